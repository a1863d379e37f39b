// The tree of modules, operators and kernels: part of the data of the report page (page_data.h).
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "analysis/overview/run_overview.h"
#include "report/page/page_strings.h"

namespace batchlight {

// Bins of steps, column-wise.
nlohmann::json PageBins(const std::vector<StepBin>& bins);

// The `tree` object of the page: where the time goes, with the time of every node in every bin of
// steps. Of a larger tree it holds the `most` most expensive nodes. The rest is summed up below the
// nearest node that is kept, so that sums match the analysis. For a job of several ranks it has the
// times of each rank beside those of all together. null: an empty tree.
nlohmann::json PageTree(const RunOverview& overview, size_t most, PageStrings& strings);

}  // namespace batchlight
