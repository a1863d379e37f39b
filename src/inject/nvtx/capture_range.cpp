#include "inject/nvtx/capture_range.h"

#include <cstring>

#include "inject/collect/capture.h"
#include "inject/collect/collecting_watch.h"
#include "inject/collect/step_window.h"
#include "inject/rt/control.h"

namespace batchlight::inject::nvtx {
namespace {

// The range that began the present capture.
constinit std::atomic<bool> g_capturing{false};
bool g_counts_steps = false;  // --step-range: the end of the range is the end of a step
const ThreadState* g_thread = nullptr;
const Domain* g_domain = nullptr;
int g_depth = -1;
uint64_t g_range_id = 0;

bool SameText(const char* wanted, size_t capacity, const Name& name) {
  return strnlen(wanted, capacity) == name.bytes && std::memcmp(wanted, name.text, name.bytes) == 0;
}

bool IsWanted(const Event& event) {
  const format::ControlPage& page = *Control();
  if (page.capture_registered_only != 0 && (event.flags & kFlagRegistered) == 0) return false;
  if (!SameText(page.capture_message, sizeof page.capture_message, event.message)) return false;
  if (page.capture_domain[0] == '*' && page.capture_domain[1] == 0) return true;
  const Name domain = event.domain != nullptr ? event.domain->name : Name{"", 0, 0};
  return SameText(page.capture_domain, sizeof page.capture_domain, domain);
}

void Stop() {
  g_capturing.store(false, std::memory_order_relaxed);
  g_counts_steps ? StepEnded() : static_cast<void>(EndCapture(CaptureBy::kRange));
  FollowCollecting();
}

}  // namespace

bool g_capture_by_range = false;

void ReadCaptureRange() {
  const format::ControlPage* page = Control();
  g_counts_steps = page != nullptr && page->trigger == format::CaptureTrigger::kSteps;
  g_capture_by_range = page != nullptr && page->capture_message[0] != 0 &&
                       (g_counts_steps || page->trigger == format::CaptureTrigger::kNvtx);
}

void StartCaptureAt(const Event& event, int depth, uint64_t range_id) {
  if (g_counts_steps) {
    if (g_capturing.load(std::memory_order_acquire) || !IsWanted(event)) return;
  } else {
    const bool began = !Collecting() && IsWanted(event) && BeginCapture(CaptureBy::kRange);
    FollowCollecting();
    if (!began) return;
  }
  g_thread = &t_thread;
  g_domain = event.domain;
  g_depth = depth;
  g_range_id = range_id;
  g_capturing.store(true, std::memory_order_release);
}

void StopCaptureAtPop(const Domain* domain, int depth) {
  if (!g_capturing.load(std::memory_order_acquire)) return;
  if (g_thread == &t_thread && g_domain == domain && g_range_id == 0 && g_depth == depth) Stop();
}

void StopCaptureAtEnd(uint64_t range_id) {
  if (g_capturing.load(std::memory_order_acquire) && g_range_id == range_id) Stop();
}

}  // namespace batchlight::inject::nvtx
