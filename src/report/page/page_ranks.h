// The ranks of a job and their collectives: part of the data of the report page (page_data.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "analysis/overview/run_overview.h"

namespace batchlight {

// The `distributed` object: who waits for whom. null: one process, no
// NCCL.
// `job`: the ranks compared; nullptr where there is one.
nlohmann::json PageDistributed(const RunOverview& overview, const JobResult* job);

// What the rows of a table are summed from, by bins of steps; null: the table covers the whole run.
nlohmann::json PageTableParts(const RunOverview& overview, std::string_view table);

}  // namespace batchlight
