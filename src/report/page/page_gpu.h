// How well each GPU was used: part of the data of the report page (page_data.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "analysis/gpu/gpu_utilization.h"
#include "analysis/memory/gpu_memory.h"
#include "analysis/overview/run_overview.h"

namespace batchlight {

// The `gpu` object of the page: how well each GPU is used, with the formulas, its launch
// queue over one step, and memory over time.
nlohmann::json PageGpu(const RunOverview& overview, const std::vector<GpuUtilization>& utilization,
                       const std::vector<MemoryCurve>& memory);

}  // namespace batchlight
