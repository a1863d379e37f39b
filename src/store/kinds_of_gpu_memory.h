// Blocks of GPU memory in store.memory_blocks: those that PyTorch's caching allocator gave. Their
// source is the GPU, counted from behind the sources of kinds.def.
#pragma once

#include "store/kinds.h"

namespace batchlight {

inline constexpr uint8_t kFirstGpuSource = 2;  // CUDA ordinal 0

constexpr bool IsOfGpu(MemorySource source) { return Number(source) >= kFirstGpuSource; }
constexpr uint32_t GpuOf(MemorySource source) { return Number(source) - kFirstGpuSource; }

}  // namespace batchlight
