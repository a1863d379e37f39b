#include "inject/collect/step_window.h"

#include <atomic>
#include <cstring>

#include "format/records.h"
#include "inject/collect/capture.h"
#include "inject/collect/collecting_watch.h"
#include "inject/rt/control.h"
#include "inject/rt/process.h"

namespace batchlight::inject {

bool g_step_windows = false;
void (*g_on_window)() = nullptr;

namespace {

struct Windows {
  uint64_t first = 0;  // --steps: steps first to last, from 1
  uint64_t last = 0;
  uint64_t every = 0;  // --every: the last `size` of every `every` steps
  uint64_t size = 0;
  bool by_range = false;
};

Windows g_windows;
constinit std::atomic<uint64_t> g_steps_done{0};
__thread uint32_t t_phase_depth;
__thread uint32_t t_step_depth;  // depth of the open optimizer step, 0 = none

uint64_t NumberOf(const char* extra, const char* key) {
  const char* found = std::strstr(extra, key);
  if (found == nullptr || (found != extra && found[-1] != '\n')) return 0;
  uint64_t number = 0;
  for (const char* at = found + std::strlen(key); *at >= '0' && *at <= '9'; ++at) {
    if (number > UINT64_MAX / 16) return number;
    number = number * 10 + static_cast<uint64_t>(*at - '0');
  }
  return number;
}

// Whether step `step` (from 1) is to be recorded.
bool Wanted(uint64_t step) {
  if (g_windows.every != 0) {
    return (step - 1) % g_windows.every >= g_windows.every - g_windows.size;
  }
  return step >= g_windows.first && step <= g_windows.last;
}

bool Decides() {
  const uint32_t own = g_process.pid;
  uint32_t nobody = 0;
  auto& decider = Control()->step_pid;
  return decider.load(std::memory_order_relaxed) == own ||
         decider.compare_exchange_strong(nobody, own);
}

}  // namespace

void ReadStepWindows() {
  const format::ControlPage* page = Control();
  if (page == nullptr || page->trigger != format::CaptureTrigger::kSteps) return;
  g_windows.first = NumberOf(page->extra, "window.first=");
  g_windows.last = NumberOf(page->extra, "window.last=");
  g_windows.every = NumberOf(page->extra, "window.every=");
  g_windows.size = NumberOf(page->extra, "window.size=");
  if (g_windows.size > g_windows.every) g_windows.size = g_windows.every;
  g_windows.by_range = page->capture_message[0] != 0;
  g_step_windows = true;
}

void StepEnded() {
  if (!Decides()) return FollowCollecting();
  const uint64_t done = g_steps_done.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool wanted = Wanted(done + 1);
  if (wanted == Collecting()) return;
  wanted ? BeginCapture(CaptureBy::kSteps) : EndCapture(CaptureBy::kSteps);
  if (g_on_window != nullptr) g_on_window();
  FollowCollecting();
}

void StepPhaseBegins(uint32_t phase) {
  ++t_phase_depth;
  const bool is_step = phase == static_cast<uint32_t>(format::Phase::kOptimizerStep);
  if (is_step && t_step_depth == 0 && !g_windows.by_range) t_step_depth = t_phase_depth;
}

void StepPhaseEnds() {
  if (t_phase_depth == 0) return;
  const bool step_ends = t_phase_depth-- == t_step_depth;
  if (!step_ends) return;
  t_step_depth = 0;
  StepEnded();
}

}  // namespace batchlight::inject
