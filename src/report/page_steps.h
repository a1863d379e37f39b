// Steps and their phases: part of the data of the report page (page_data.h).
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "analysis/run_overview.h"

namespace batchlight {

// The `training` array of the page: one object per training process; together they have about
// `most_steps` entries in each track.
nlohmann::json PageTraining(const RunOverview& overview, size_t most_steps);

// Names of the kinds of steps, by number.
nlohmann::json PageStepKinds();

}  // namespace batchlight
