// The events behind the phases of a track: part of the data of the report page (page_data.h).
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "analysis/breakdown/phase_events.h"
#include "analysis/steps/steps.h"
#include "report/page/page_strings.h"

namespace batchlight {

// `phases`: rows of TrackEvents::phases, in the order of the page's track. Of each phase about
// `most` groups are kept; the rest are put together.
nlohmann::json PageTrackEvents(const TrackEvents& track, const ProcessSteps& process,
                               const std::vector<size_t>& phases, size_t most,
                               PageStrings& strings);

nlohmann::json PageEventKinds();  // by number

}  // namespace batchlight
