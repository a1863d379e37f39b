// Steps grouped into bins, as for the tree, and which steps of a process a sum over a bin is about:
// its steady steps in the bin, or all of its steps there if none is steady. The steady bins
// together have exactly the steady steps, so that a reader who selects everything gets the numbers
// of the whole run.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/steps.h"

namespace batchlight {

// Consecutive steps, by their place in the process: step i of every rank is in the same bin.
// Ascending; of two bins with the same first step one holds the steady steps of a span, the other
// the rest of it.
struct StepBin {
  uint32_t first_step = 0;
  uint32_t steps = 0;   // summed over processes
  bool steady = false;  // its steps are steady ones
};

// One training process of a run of several: the same tree, its own steps and times.
struct RankBins {
  ProcessId process;
  int32_t rank = -1;          // -1: not known
  std::vector<StepBin> bins;  // fewer, the more ranks there are; by its own steady steps
  size_t column = 0;          // of AttributionTree::rank_self_ns that its first bin has
  double step_ns = 0;         // its mean step
};

// The first step of every bin, ascending: a bin reaches to the next one's. `bins` are the tree's,
// of which two may begin with the same step.
std::vector<uint32_t> BinStarts(const std::vector<StepBin>& bins);

struct BinSteps {
  std::vector<uint32_t>
      rows;             // of ProcessSteps::steps, ascending; empty: the process has none here
  bool steady = false;  // they are steady ones
};

// One per bin.
std::vector<BinSteps> StepsOfBins(const std::vector<uint32_t>& starts, const ProcessSteps& process);

}  // namespace batchlight
