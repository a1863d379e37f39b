// What a thread does in a CUDA call that does not return at once: it waits for work launched
// earlier, or copies to the device. A copy from pageable memory does both: the thread waits until
// the GPU begins the copy, then it copies.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/phases/phase_kind.h"
#include "store/store.h"

namespace batchlight {

struct GpuWait {
  int64_t start_ns;
  int64_t end_ns;
  PhaseKind kind;  // kGpuWait or kCopyToDevice
};

// Those of one thread, by start, without overlap (a runtime call may hold a driver call).
std::vector<GpuWait> FindGpuWaits(const Store& store, ThreadId thread);

}  // namespace batchlight
