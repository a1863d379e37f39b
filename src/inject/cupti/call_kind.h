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
  // The compiler asks this of each of CUDA's 800 calls: the first letter decides most.
  const auto has = [text = name.data(), end = name.size()](std::string_view part) {
    const char first = part.front();
    const size_t bytes = part.size();
    for (size_t at = 0; at + bytes <= end; ++at) {
      if (text[at] == first && std::string_view(text + at, bytes) == part) return true;
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
