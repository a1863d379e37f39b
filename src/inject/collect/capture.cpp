#include "inject/collect/capture.h"

#include <atomic>

#include "inject/buffer/thread_stream.h"
#include "inject/rt/control.h"
#include "inject/rt/process.h"

namespace batchlight::inject {
namespace {

using format::kStateCollecting;

// pid of the process whose range began the present capture, if it is this one: a forked child
// inherits the variable but is not the owner.
constinit std::atomic<uint32_t> g_owner_pid{0};

void WriteWindow(uint32_t capture_index, uint32_t on) {
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream != nullptr && stream->Ensure(sizeof(format::CaptureWindowRecord))) {
    stream->Write(format::CaptureWindowRecord{.capture_index = capture_index, .on = on});
  }
}

}  // namespace

void (*g_on_capture_begun)() = nullptr;

bool BeginCapture(CaptureBy by) {
  format::ControlPage* page = Control();
  if (page == nullptr || page->disable != 0) return false;
  const bool by_range = by == CaptureBy::kRange;
  const uint32_t done = page->captures_done.load(std::memory_order_acquire);
  if (by_range && page->capture_repeat != 0 && done >= page->capture_repeat) return false;
  uint32_t state = page->state.load(std::memory_order_relaxed);
  if ((state & kStateCollecting) != 0) return false;
  if (!page->state.compare_exchange_strong(state, done << 1 | kStateCollecting,
                                           std::memory_order_acq_rel)) {
    return false;
  }
  if (by_range) g_owner_pid.store(g_process.pid, std::memory_order_relaxed);
  WriteWindow(done, 1);
  if (g_on_capture_begun != nullptr) g_on_capture_begun();
  WakeTool();
  return true;
}

bool EndCapture(CaptureBy by) {
  format::ControlPage* page = Control();
  if (page == nullptr) return false;
  if (by == CaptureBy::kRange) {
    if (page->range_end_ignored != 0) return false;
    uint32_t owner = g_process.pid;
    if (!g_owner_pid.compare_exchange_strong(owner, 0, std::memory_order_relaxed)) return false;
  }
  uint32_t state = page->state.load(std::memory_order_relaxed);
  if ((state & kStateCollecting) == 0) return false;  // the tool ended it: duration, stop command
  WriteWindow(state >> 1, 0);
  if (!page->state.compare_exchange_strong(state, state & ~kStateCollecting,
                                           std::memory_order_acq_rel)) {
    return false;
  }
  page->captures_done.fetch_add(1, std::memory_order_acq_rel);
  WakeTool();
  return true;
}

}  // namespace batchlight::inject
