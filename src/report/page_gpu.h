// How well each GPU was used: part of the data of the report page (page_data.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/gpu_memory.h"
#include "analysis/gpu_utilization.h"
#include "analysis/run_overview.h"

namespace batchlight {

// The `gpu` object of the page: how well each GPU is used, with the formulas, its launch
// queue over one step, and memory over time.
nlohmann::json PageGpu(const RunOverview& overview, const std::vector<GpuUtilization>& utilization,
                       const std::vector<MemoryCurve>& memory);

// The `distributed` object: who waits for whom; the numbers are in the tables of ranks and
// collectives. null: one process, no NCCL.
nlohmann::json PageDistributed(const RunOverview& overview);

}  // namespace batchlight
