// A range of counters around each launch of a kernel or a CUDA graph, for steps that launch graphs:
// CUPTI's own ranges of kernels (13.0, H200) end at the first graph, with cuptiRangeProfilerStop
// failing by result 999 and all counts lost. Ranges that are pushed and popped count graphs right.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/counting/counter_session.h"
#include "inject/counting/launch_lock.h"
#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

class LaunchRanges {
 public:
  LaunchRanges(const Library& library, void* subscriber);

  // Whether the program has launched a graph so far.
  bool has_graphs() const { return has_graphs_.load(std::memory_order_relaxed); }
  // From here on each launch in `context`, on any thread, is a range of `session`, up to `room`.
  void Begin(CounterSession& session, const void* context, size_t room);
  // How many launches there were since, in room or not. False if a range was refused.
  bool End(size_t* launches);
  // No range is made any more; one that is open is closed by its launch. Waits for nobody.
  void Stop() { is_on_.store(false, std::memory_order_release); }

  // Nothing is measured any more, and CUPTI calls nobody. Not from within its callbacks.
  void Close();

  // From CUPTI's callback around a call of the driver.
  void OnCall(uint32_t cbid, const CallbackData& call);

 private:
  void Enter(const CallbackData& call);
  void Leave(const CallbackData& call);

  const Library& library_;
  void* const subscriber_;
  std::atomic<bool> has_graphs_{false};

  std::atomic<bool> is_on_{false};
  std::atomic<const void*> context_{nullptr};
  std::atomic<bool> is_refused_{false};
  LaunchLock lock_;  // all below belongs to who holds it
  CounterSession* session_ = nullptr;
  size_t room_ = 0;
  size_t launches_ = 0;
  uint32_t open_ = 0;  // correlation of the launch that is being made; 0: none
  bool is_pushed_ = false;
};

}  // namespace batchlight::inject::cupti
