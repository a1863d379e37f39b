// The functions of libcupti that read hardware counters, and what they need of a caller.
#pragma once

#include "counters/profiler_abi.h"

namespace batchlight::counters {

struct ProfilerApi {
#define HOST_SYMBOL(member, name, Params) uint32_t (*member)(Params*) = nullptr;
#define RANGE_SYMBOL(member, name, Params) uint32_t (*member)(Params*) = nullptr;
#define PM_SYMBOL(member, name, Params) uint32_t (*member)(Params*) = nullptr;
#include "counters/symbols.def"

  // Looks them up in a loaded libcupti. False: it is older than CUDA 12.6 and lacks some of those
  // that every reader needs.
  bool Resolve(void* library);
  bool has_ranges() const { return range_enable != nullptr && range_data_info != nullptr; }
  bool has_samples() const { return pm_enable != nullptr && pm_sample_info != nullptr; }
};

// Fills in the size, calls, and leaves what came back in `params`.
template <typename Params>
uint32_t Call(uint32_t (*function)(Params*), Params& params) {
  params.struct_size = Params::Bytes();
  return function(&params);
}

// Why counters cannot be read, for people: a sentence for the results that users meet, else
// nullptr.
const char* ExplainResult(uint32_t result);

}  // namespace batchlight::counters
