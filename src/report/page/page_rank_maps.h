// The heat maps of the ranks of a job as the page has them; web/src/rank_maps_data.ts describes it.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/partial/job_result.h"

namespace batchlight {

// null: there are fewer than two ranks, or no steps. Of more ranks than a map has lines several
// share one, so that the page of ten thousand is as small as that of some hundred.
nlohmann::json PageRankMaps(const JobResult& job);

}  // namespace batchlight
