// The driver's calls that launch kernels and graphs, by their callback ids as in
// cuda_driver_calls.def. The runtime's calls come to callbacks on these, too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/cupti/abi.h"

namespace batchlight::inject::cupti {

inline constexpr uint16_t kKernelLaunches[] = {
    307,  // cuLaunchKernel
    442,  // cuLaunchKernel_ptsz
    477,  // cuLaunchCooperativeKernel
    478,  // cuLaunchCooperativeKernel_ptsz
    652,  // cuLaunchKernelEx
    653,  // cuLaunchKernelEx_ptsz
};
inline constexpr uint16_t kGraphLaunches[] = {
    514,  // cuGraphLaunch
    515,  // cuGraphLaunch_ptsz
};

template <size_t kCount>
bool IsOneOf(const uint16_t (&calls)[kCount], uint32_t cbid) {
  for (const uint16_t call : calls) {
    if (call == cbid) return true;
  }
  return false;
}

// Whether the driver refused the call, which has returned.
inline bool HasFailed(const CallbackData& call) {
  return call.return_value != nullptr && *static_cast<const uint32_t*>(call.return_value) != 0;
}

}  // namespace batchlight::inject::cupti
