// The ranks of a job and their collectives: part of the data of the report page (page_data.h).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analysis/overview/run_overview.h"

namespace batchlight {

// The `distributed` object: who waits for whom, and ranks and collectives by bins of steps; of the
// whole run they are in the tables. null: one process, no NCCL.
nlohmann::json PageDistributed(const RunOverview& overview);

}  // namespace batchlight
