// Every table that can be made from a run, by name: the report writes one CSV for each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"

namespace batchlight {

// What --first-step and --last-step do to a table.
enum class StepsOf : uint8_t {
  kMeasures,  // its measures are of the steps, or of the whole run for reasons of their own
  kStore,     // it sums up the store, which must hold the steps alone (run/steps_alone.h)
  kNothing,   // it is of the whole run: they would say what is not true
};

struct TableEntry {
  std::string_view name;                             // steps: also the file name
  std::string_view sentence;                         // what a row is
  ResultTable (*make)(const RunOverview& overview);  // may have no rows
  std::string_view why_empty;                        // what such a run lacks, and what records it
  bool compares_ranks = false;                       // a row of one rank needs the others
  // What is special to this run instead; "": nothing.
  std::string (*why_this_empty)(const Store& store) = nullptr;
  StepsOf steps = StepsOf::kMeasures;
};

std::span<const TableEntry> OverviewTables();

// entry.make(), whose title says from how many steps the table is where some were recorded without
// detail: "Operators, recorded in 97 of 900 steps, means of 90".
ResultTable MakeTable(const TableEntry& entry, const RunOverview& overview);
// The same as columns, for files.
void AddStepColumns(const TableEntry& entry, const RunOverview& overview, ResultTable* table);

// nullptr: no such table.
const TableEntry* FindOverviewTable(std::string_view name);

}  // namespace batchlight
