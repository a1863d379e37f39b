#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "analysis/run_overview.h"

namespace batchlight {

// The `steps` array of the page: one object per training process, with at most `most_steps`
// entries each.
nlohmann::json PageSteps(const RunOverview& overview, size_t most_steps);

// Names of the kinds of steps, by number.
nlohmann::json PageStepKinds();

}  // namespace batchlight
