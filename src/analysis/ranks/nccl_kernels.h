// NCCL's kernels on the GPUs, each with the call that launched it.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranks/nccl_calls.h"
#include "store/store.h"

namespace batchlight {

struct NcclKernel {
  uint32_t kernel = 0;               // row of kernels
  uint32_t call = NcclCalls::kNone;  // row of NcclCalls::calls; kNone: not known
};

// By row of kernels.
std::vector<NcclKernel> FindNcclKernels(const Store& store, const NcclCalls& nccl);

}  // namespace batchlight
