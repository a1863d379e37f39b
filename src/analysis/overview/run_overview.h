// Everything that the summary, the report page and the tables show, built once.
#pragma once

#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/run/run_measures.h"
#include "store/store.h"

namespace batchlight {

struct RunOverview : RunMeasures {
  std::vector<Finding> findings;  // what to change, by falling gain
};

RunOverview BuildOverview(const Store& store, const MeasureOptions& options = {});

}  // namespace batchlight
