// Names of events, for the page of the timeline.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "timeline/rows/names.h"

namespace batchlight {

// {"names": [...], "labels": {"3": "MulFunctor · vectorized_elementwise_kernel"}}: `labels` by
// place in `names`, for those that are shown otherwise than they are found and copied. Long names
// are cut.
nlohmann::json TimelineNames(const timeline::Names& names, const std::vector<uint32_t>& ids);

}  // namespace batchlight
