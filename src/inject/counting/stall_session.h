// Samples of instructions that the GPU executes, with what kept their warps waiting: CUPTI's PC
// sampling of one context, between a start and a stop. The context must be current. Used by one
// thread after the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

class StallSession {
 public:
  explicit StallSession(const Library& library) : library_(library) {}

  struct Totals {
    uint64_t samples = 0;
    uint64_t dropped = 0;
    uint64_t foreign = 0;
    bool buffer_full = false;
  };

  // Whether this CUPTI can do it at all.
  static bool IsPossible(const Library& library);

  // All return false if CUPTI refuses, and failed_call() and result() say what.
  bool Enable(void* context, bool serialized);
  bool Start();
  bool Stop();
  // Writes what was sampled until Stop as StallSample records of `window`, with the code that it
  // lies in, into the calling thread's stream.
  bool Collect(uint32_t window, Totals& totals);
  void Disable();

  bool is_enabled() const { return is_enabled_; }
  uint32_t period_log2() const { return period_log2_; }
  const char* failed_call() const { return failed_call_; }
  uint32_t result() const { return result_; }

 private:
  static constexpr size_t kRoom = 2048;  // instructions that are fetched at a time
  static constexpr size_t kMostReasons = 128;

  // One of CUPTI's buffers: it fills one by itself, and one when it is asked.
  struct Buffer {
    PcSamplingData head;
    PcData pcs[kRoom];
    PcStallReason reasons[kRoom * kMostReasons];
  };

  bool Check(const char* call, uint32_t result);
  bool ReadReasons();
  bool Configure(bool serialized);
  bool Set(PcConfiguration* attributes, size_t count);
  Buffer* NewBuffer() const;
  uint32_t GetData(PcGetDataParams& params) const;
  void WriteSamples(uint32_t window, const Buffer& buffer) const;
  void WriteSamplesOf(uint32_t window, const PcData& pc) const;

  const Library& library_;
  void* context_ = nullptr;
  bool is_enabled_ = false;
  uint32_t period_log2_ = 0;
  Buffer* own_ = nullptr;      // that CUPTI fills by itself
  Buffer* fetched_ = nullptr;  // that GetData fills
  size_t reason_count_ = 0;
  char reasons_[kMostReasons][kPcReasonBytes] = {};  // by index
  const char* failed_call_ = "";
  uint32_t result_ = 0;
};

}  // namespace batchlight::inject::cupti
