#include "inject/collect/step_window.h"

#include <atomic>

#include "inject/collect/capture.h"
#include "inject/collect/collecting_watch.h"
#include "inject/collect/step_board.h"
#include "inject/rt/control.h"
#include "inject/rt/option_number.h"
#include "inject/rt/process.h"

namespace batchlight::inject {

void (*g_on_window)() = nullptr;
void (*g_before_window)() = nullptr;

namespace {

struct Windows {
  uint64_t first = 0;  // --steps: steps first to last, from 1
  uint64_t last = 0;
  uint64_t every = 0;  // --every: the last `size` of every `every` steps
  uint64_t size = 0;
};

Windows g_windows;
constinit std::atomic<uint64_t> g_steps_done{0};

// Whether step `step` (from 1) is to be recorded.
bool Wanted(uint64_t step) {
  if (g_has_board) return RequestedSteps().Holds(step);
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

// Two steps ahead, in each process, so that the first step of a window does not pay for it.
void PrepareForWindow(uint64_t steps_done) {
  constexpr uint64_t kStepsAhead = 2;
  if (g_before_window == nullptr) return;
  const format::StepRequest request = RequestedSteps();
  if (steps_done + kStepsAhead >= request.first && steps_done + 1 < request.first + request.count) {
    g_before_window();
    g_before_window = nullptr;
  }
}

}  // namespace

bool ReadStepWindows() {
  const format::ControlPage* page = Control();
  if (page == nullptr || page->trigger != format::CaptureTrigger::kSteps) return false;
  g_windows.first = OptionNumber(page->extra, "window.first=");
  g_windows.last = OptionNumber(page->extra, "window.last=");
  g_windows.every = OptionNumber(page->extra, "window.every=");
  g_windows.size = OptionNumber(page->extra, "window.size=");
  if (g_windows.size > g_windows.every) g_windows.size = g_windows.every;
  return page->capture_message[0] == 0;
}

void StepEnded() {
  const uint64_t done = g_steps_done.fetch_add(1, std::memory_order_relaxed) + 1;
  if (g_has_board) {
    BoardStepEnded(done);
    PrepareForWindow(done);
  }
  if (!Decides()) return FollowCollecting();
  const bool wanted = Wanted(done + 1);
  if (wanted == Collecting()) return;
  wanted ? BeginCapture(CaptureBy::kSteps) : EndCapture(CaptureBy::kSteps);
  if (g_on_window != nullptr) g_on_window();
  FollowCollecting();
}

}  // namespace batchlight::inject
