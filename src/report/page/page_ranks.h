// The ranks of a job and their collectives: part of the data of the report page (page_data.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "analysis/overview/run_overview.h"

namespace batchlight {

// The `distributed` object: who waits for whom, and the rule that decides it. null: one process, no
// NCCL.
nlohmann::json PageDistributed(const RunOverview& overview);

// What the rows of a table are summed from, by bins of steps; null: the table covers the whole run.
nlohmann::json PageTableParts(const RunOverview& overview, std::string_view table);

}  // namespace batchlight
