// Statistics of groups of events, of one rank and over ranks, with nsys's columns and formulas.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/recipes/event_groups.h"
#include "analysis/result/result_table.h"

namespace batchlight::recipes {

// What the values of a summary are called and counted in.
struct Measure {
  std::string count;  // "Instances"
  Unit unit = Unit::kTimeNs;
};

// Whether it has the columns of StatsOfRank.
bool IsStatsTable(const ResultTable& table);

// A row for each name, largest total first.
ResultTable StatsOfRank(const Measure& measure, Groups groups);

// Over ranks, from their tables, which are IsStatsTable; `ranks` are those of the tables. As in
// nsys Q1 is the least, Q3 the largest and the median the median of the ranks'.
ResultTable StatsOverRanks(const std::vector<const ResultTable*>& tables,
                           const std::vector<int64_t>& ranks);

}  // namespace batchlight::recipes
