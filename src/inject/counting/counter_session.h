// Counters of one CUDA context, read over ranges: CUPTI's Range Profiler, one pass of metrics at a
// time, or of single kernels that CUPTI runs again for each pass. Used by one thread after the
// other; the context must be current.
#pragma once

#include <cstddef>
#include <cstdint>

#include "counters/host_object.h"
#include "inject/counting/counter_plan.h"

namespace batchlight::inject::cupti {

class CounterSession {
 public:
  explicit CounterSession(const counters::ProfilerApi& api) : api_(api) {}

  // All return false if CUPTI refuses, and failed_call() and result() say what.
  bool Enable(void* context);
  // What Start() counts, in `ranges` ranges at most: pushed and popped, or one for each kernel.
  bool Configure(const counters::HostObject& host, const CounterPass& pass,
                 counters::RangeMode mode, size_t ranges, counters::ReplayMode replay);
  bool Start();
  bool Push();
  // `is_empty`: nothing has run in the range, which then is none.
  bool Pop(bool is_empty = false);
  // Stops counting and adds the counts to data(). Start() then goes on with the next range.
  bool Stop();
  // Lets go of the GPU's counters, whatever has failed before.
  void Disable();

  const uint8_t* data() const { return data_; }
  size_t data_bytes() const { return data_bytes_; }
  size_t places() const;  // in data(), empty ranges too
  size_t ranges() const { return places() - empty_; }
  bool has_all_passes() const { return has_all_passes_; }  // of what has been counted
  // The how many-th in the order of time, from 0, is the range at that place of data().
  static constexpr size_t kEmpty = ~size_t{0};
  size_t OrderOf(size_t place) const;
  const char* failed_call() const { return failed_call_; }
  uint32_t result() const { return result_; }

 private:
  bool Check(const char* call, uint32_t result);
  bool MakeData(const CounterPass& pass, size_t ranges);
  void FreeData();

  const counters::ProfilerApi& api_;
  void* profiler_ = nullptr;
  bool is_counting_ = false;
  bool has_all_passes_ = false;
  uint8_t* data_ = nullptr;
  size_t data_bytes_ = 0;
  size_t pushed_ = 0;
  static constexpr size_t kMostEmpty = 64;
  size_t empty_at_[kMostEmpty] = {};  // of those that were pushed, rising
  size_t empty_ = 0;
  char range_name_[24] = {};
  const char* failed_call_ = "";
  uint32_t result_ = 0;
};

}  // namespace batchlight::inject::cupti
