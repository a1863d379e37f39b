// Records what PyTorch's caching allocator of GPUs does: a callback of its own, compiled on first
// use against the PyTorch that the program runs, as torch_ops.cpp. Loaded by
// python/batchlight/_bridge/_torch_memory.py.
//
// For PyTorch 2 with trace trackers of allocators. The callback runs under the allocator's lock, so
// it calls nothing of PyTorch.
#include <c10/cuda/CUDACachingAllocator.h>

#include "native_api.h"

extern "C" __attribute__((weak)) const batchlight_native_api_t* batchlight_native_api(void);

namespace {

using c10::cuda::CUDACachingAllocator::TraceEntry;

const batchlight_native_api_t* g_api = nullptr;

// A block that other streams still use is given back later than the program asks: when it is
// completed.
void OnEntry(const TraceEntry& entry) {
  const auto address = static_cast<uint64_t>(entry.addr_);
  if (entry.action_ == TraceEntry::ALLOC) {
    g_api->gpu_block_allocated(static_cast<uint32_t>(entry.device_), address,
                               static_cast<uint64_t>(entry.size_));
  } else if (entry.action_ == TraceEntry::FREE_COMPLETED) {
    g_api->gpu_block_freed(address);
  }
}

}  // namespace

// Starts recording, once per process; after CUDA is initialized, since the allocator of each GPU
// exists only then. nullptr, or why nothing is recorded.
extern "C" __attribute__((visibility("default"))) const char* batchlight_torch_memory_start() {
  if (g_api != nullptr) return nullptr;
  const batchlight_native_api_t* api =
      batchlight_native_api != nullptr ? batchlight_native_api() : nullptr;
  if (api == nullptr || api->version != BATCHLIGHT_NATIVE_API_VERSION ||
      api->size_bytes < sizeof *api) {
    return "there is no recording to write to";
  }
  g_api = api;
  try {
    c10::cuda::CUDACachingAllocator::attachAllocatorTraceTracker(OnEntry);
  } catch (...) {
    return "the program's allocator of GPU memory is not PyTorch's, and tells nothing";
  }
  return nullptr;
}
