#include "inject/rt/capture.h"

#include <climits>

#include "inject/rt/control.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {
namespace {

void TellTool(format::ControlPage* control) {
  control->changes.fetch_add(1, std::memory_order_release);
  sys::Call(SYS_futex, &control->changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

bool CaptureStart() {
  format::ControlPage* control = Control();
  if (control == nullptr) return false;
  uint32_t state = control->state.load(std::memory_order_acquire);
  uint32_t started;
  do {
    if ((state & format::kStateCollecting) != 0) return false;
    const uint32_t done = control->captures_done.load(std::memory_order_acquire);
    if (control->capture_repeat != 0 && done >= control->capture_repeat) return false;
    started = done << 1 | format::kStateCollecting;
  } while (!control->state.compare_exchange_weak(state, started, std::memory_order_acq_rel));
  TellTool(control);
  return true;
}

bool CaptureStop() {
  format::ControlPage* control = Control();
  if (control == nullptr || control->range_end_ignored != 0) return false;
  uint32_t state = control->state.load(std::memory_order_acquire);
  do {
    if ((state & format::kStateCollecting) == 0) return false;
  } while (!control->state.compare_exchange_weak(state, state & ~format::kStateCollecting,
                                                 std::memory_order_acq_rel));
  control->captures_done.fetch_add(1, std::memory_order_acq_rel);
  control->request.store(1, std::memory_order_release);
  TellTool(control);
  return true;
}

}  // namespace batchlight::inject
