// Steps and their phases: part of the data of the report page (page_data.h).
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analysis/overview/run_overview.h"
#include "report/page/page_strings.h"

namespace batchlight {

// The `training` array of the page: one object per training process; together they have about
// `most_steps` entries in each track, and `most_events` groups of events behind the phases.
nlohmann::json PageTraining(const RunOverview& overview, const PhaseEvents& events,
                            size_t most_steps, size_t most_events, PageStrings& strings);

// Which steps are outliers, as a sentence.
std::string PageOutlierRule();

// Names of the kinds of steps, by number.
nlohmann::json PageStepKinds();

}  // namespace batchlight
