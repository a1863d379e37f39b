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
// steps. Of a larger tree it holds the `most` most expensive nodes; what is left out stands below
// the nearest node that is there, so that sums stay those of the analysis. Of a job of several
// ranks it holds the times of each beside those of all together. null: an empty tree.
nlohmann::json PageTree(const RunOverview& overview, size_t most, PageStrings& strings);

}  // namespace batchlight
