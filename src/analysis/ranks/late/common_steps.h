// Which steps of the ranks of a job are compared. The first one of a rank may be warm-up where
// another's counts: the steps that count on all of them belong together by their numbers. A rank
// that has few (it was killed, or starts late) takes none from the others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/steps/steps.h"

namespace batchlight {

// Of one rank: its steps that count, in order.
struct CountedSteps {
  std::vector<uint32_t> rows;    // among all its steps
  std::vector<int64_t> numbers;  // of these
};

struct CommonSteps {
  // By rank, rows: the n-th of each rank are the same step, as far as all have an n-th.
  std::vector<std::vector<uint32_t>> rows;
  // The ranks with half as many steps as usual or more agree in the numbers of half of these at
  // least; else all are taken in order.
  bool by_number = true;
};

CommonSteps FindCommonSteps(std::span<const CountedSteps> ranks);

// Of a run, by row of steps.processes.
CommonSteps FindCommonSteps(const StepSet& steps);

}  // namespace batchlight
