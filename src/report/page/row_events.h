// Which events of the timeline the rows of a table are about: ways from the page's tables into it.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"
#include "report/page/page_strings.h"

namespace batchlight {

// {"table": "module_calls", "names": [...]}: of the first `rows` rows, null for those that are no
// event; {"from": [...], "to": [...]}: the longest, to == from: none. null: no row is.
nlohmann::json RowEvents(const RunOverview& overview, const ResultTable& table, size_t rows,
                         PageStrings& strings);

}  // namespace batchlight
