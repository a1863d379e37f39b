#pragma once

#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"

namespace batchlight {

ResultTable MakeLinesInsideTable(const RunOverview& overview);

}  // namespace batchlight
