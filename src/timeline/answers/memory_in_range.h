// The table of GPU memory of exactly a stretch of time.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/memory/gpu_memory.h"
#include "analysis/result/result_table.h"
#include "store/store.h"

namespace batchlight::timeline {

// `curves`: not thinned. No rows where nothing was held.
ResultTable MemoryInRange(const Store& store, const std::vector<MemoryCurve>& curves,
                          int64_t from_ns, int64_t to_ns);

}  // namespace batchlight::timeline
