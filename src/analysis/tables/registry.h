// Every table that can be made from a run, by name: the report writes one CSV for each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"

namespace batchlight {

struct TableEntry {
  std::string_view name;                             // steps: also the file name
  std::string_view sentence;                         // what a row is
  ResultTable (*make)(const RunOverview& overview);  // may have no rows
  std::string_view why_empty;                        // what such a run lacks, and what records it
  bool compares_ranks = false;                       // a row of one rank needs the others
  // What is special to this run instead; "": nothing.
  std::string (*why_this_empty)(const Store& store) = nullptr;
};

std::span<const TableEntry> OverviewTables();

// nullptr: no such table.
const TableEntry* FindOverviewTable(std::string_view name);

}  // namespace batchlight
