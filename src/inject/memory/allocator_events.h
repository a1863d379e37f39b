// Blocks of PyTorch's caching allocator of GPUs (torch_ops/torch_memory.cpp tells of them).
#pragma once

#include <cstdint>

namespace batchlight::inject::memory {

// On the thread that asked, under the allocator's lock.
void GpuBlockAllocated(uint32_t device, uint64_t address, uint64_t bytes);
void GpuBlockFreed(uint64_t address);

}  // namespace batchlight::inject::memory
