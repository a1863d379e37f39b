// The most expensive things of a run, as page, picture and snippet show them: the same rows with
// the same numbers in all three.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/overview/run_overview.h"

namespace batchlight {

struct TopRow {
  std::string name;    // real name, as recorded
  std::string label;   // the name made readable, where that differs; else ""
  std::string detail;  // class, domain, ...; may be ""
  uint64_t calls = 0;
  double total_ns = 0;  // of the whole run
  double value_ns = 0;  // what the list is ordered by: per step where there are steps, else total
  double share = 0;     // of what TopList::share_of says, 0 to 1

  const std::string& shown() const { return label.empty() ? name : label; }
};

struct TopList {
  std::string key;       // operators; also the table with all rows
  std::string title;     // "Operators"
  std::string noun;      // "operators": inside of a sentence
  std::string measure;   // "self time"
  std::string share_of;  // what the shares refer to: "of step", "of GPU time"
  std::string whose;     // "mean of 2 ranks"; "" where one process trains
  bool per_step = false;
  std::vector<TopRow> rows;  // at least one
};

// Lists that have rows: kernels, operators, modules, NVTX ranges.
std::vector<TopList> MakeTopLists(const RunOverview& overview, size_t most_rows = 10);

}  // namespace batchlight
