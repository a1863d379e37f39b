// Time of each stack of Python code from which operators were called: what flame graphs by Python
// are drawn of.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/lines/line_times.h"
#include "store/store.h"

namespace batchlight {

struct StackTimes {
  LineKind kind = LineKind::kLine;
  bool backward = false;  // else forward, run again or not
  PythonStackId stack;    // None: not known
  uint64_t calls = 0;     // of operators
  int64_t cpu_ns = 0;     // of these operators
  int64_t gpu_ns = 0;     // of the work that they launched
};

// The sums over all are those of MeasureLines(). No rows where no stacks were recorded.
std::vector<StackTimes> MeasureStacks(const Store& store, const BackwardLinks& links,
                                      const Attribution& work);

}  // namespace batchlight
