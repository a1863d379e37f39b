// Steps put together into bins, as for the tree, and what a sum over a bin is over for one process:
// its steps in the bin that count, or all of them where none does. Added up over the bins that
// count these are the steps that count, so that a reader who selects everything gets the numbers of
// the whole run.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/attribution_tree.h"
#include "analysis/steps.h"

namespace batchlight {

// The first step of every bin, ascending: a bin reaches to the next one's. `bins` are the tree's,
// of which two may begin with the same step.
std::vector<uint32_t> BinStarts(const std::vector<TreeBin>& bins);

struct BinSteps {
  std::vector<uint32_t>
      rows;             // of ProcessSteps::steps, ascending; empty: the process has none here
  bool counts = false;  // they are steps that count
};

// One per bin.
std::vector<BinSteps> StepsOfBins(const std::vector<uint32_t>& starts, const ProcessSteps& process);

}  // namespace batchlight
