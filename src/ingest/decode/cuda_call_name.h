// Names of CUDA API calls by CUPTI's number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace batchlight {

// "cudaLaunchKernel_v7000", "cuLaunchKernelEx"; "" for a number this version does not know.
std::string_view CudaCallName(bool driver, uint32_t cbid);

// As above; unknown numbers give "cuda_runtime_cbid_700" or "cuda_driver_cbid_900".
std::string CudaCallNameOrNumber(bool driver, uint32_t cbid);

}  // namespace batchlight
