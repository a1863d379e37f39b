// The attribution tree for a terminal: one line per branch, with its time beside it.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/overview/run_overview.h"
#include "report/terminal/summary_text.h"

namespace batchlight {

struct TreeTextOptions {
  bool by_gpu = false;  // order and shares by GPU time; else CPU time
  size_t depth = 99;    // levels that are shown
  double least = 0.01;  // share of the whole, 0 to 1; smaller branches are put together
  size_t rows = 0;      // the branches that are shown, those with most time; 0 = all
  std::string below;    // only the branches whose name contains this; "" = all
};

// Times are per step, or of the whole run if there are no steps. Siblings are ordered by falling
// time.
std::string TreeText(const RunOverview& overview, const TerminalStyle& style,
                     const TreeTextOptions& options);

}  // namespace batchlight
