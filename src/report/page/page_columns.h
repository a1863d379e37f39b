// Columns, the rules by which the page sums them, and the parts that it sums: part of the data of
// the report page (page_data.h). web/src/sums.ts reads rules and parts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/result/result_table.h"
#include "analysis/result/sum_rule.h"
#include "analysis/steps/step_bins.h"

namespace batchlight {

// Properties with their usual value are left out: whole numbers, two decimals, no unit, no help.
nlohmann::json PageColumn(const ResultColumn& column);

nlohmann::json PageRule(const SumRule& rule);

// A number of a column for people, with its unit; "–" without a value.
std::string PageNumber(const ResultColumn& column, const Cell& cell);

// One number about something, with its formula: the `column` and its value as text.
nlohmann::json PageMetric(const ResultColumn& column, const Cell& cell);

// Lists of whole numbers by key; a number alone keeps its fraction.
nlohmann::json PageParts(const PartsByKey& parts);

// The same in bins of steps of one process, with the bins that count.
nlohmann::json PageParts(const std::vector<BinSteps>& bins, const PartsByKey& parts);

}  // namespace batchlight
