// What a call of CUDA's API does, as --cudabacktrace groups them. Told by its name.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/backtraces.h"

namespace batchlight::inject::cupti {

enum CallKind : uint8_t {
  kLaunchCall,  // kernels and graphs
  kMemoryCall,  // copies, fills, allocates, frees, maps
  kWaitCall,
  kOtherCall,
  kCallKinds,  // how many there are
};
static_assert(kCallKinds == format::kCallKindWords.size());

constexpr CallKind KindOfCall(std::string_view name) {
  const auto has = [name](std::string_view part) {
    for (size_t at = 0; at + part.size() <= name.size(); ++at) {
      if (name.substr(at, part.size()) == part) return true;
    }
    return false;
  };
  if (has("Synchronize") || has("WaitEvent") || has("WaitValue")) return kWaitCall;
  if (has("HostFunc")) return kOtherCall;
  if (has("Launch")) return kLaunchCall;
  if (has("Mem") || has("Malloc") || has("Free") || has("HostAlloc")) return kMemoryCall;
  return kOtherCall;
}

}  // namespace batchlight::inject::cupti
