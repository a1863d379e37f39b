// The driver's calls that launch kernels, by their callback ids as in cuda_driver_calls.def. The
// runtime's calls come to callbacks on these, too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject::cupti {

inline constexpr uint16_t kKernelLaunches[] = {
    307,  // cuLaunchKernel
    442,  // cuLaunchKernel_ptsz
    477,  // cuLaunchCooperativeKernel
    478,  // cuLaunchCooperativeKernel_ptsz
    652,  // cuLaunchKernelEx
    653,  // cuLaunchKernelEx_ptsz
};

template <size_t kCount>
bool IsOneOf(const uint16_t (&calls)[kCount], uint32_t cbid) {
  for (const uint16_t call : calls) {
    if (call == cbid) return true;
  }
  return false;
}

}  // namespace batchlight::inject::cupti
