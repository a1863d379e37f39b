// What lies below each line of the user's code: the lines of packages that it led to, with the time
// of their operators and of the work that these launched. For a model of a library the user's code
// has one line, and the library's have what it is made of.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/lines/stack_times.h"
#include "store/store.h"

namespace batchlight {

struct LineInside {
  LineKind kind = LineKind::kLine;
  PythonFrameId line;    // of the user's code
  PythonFrameId inside;  // innermost of a package below it; of PyTorch's own if there is no other
  uint64_t calls = 0;    // of operators, forward
  int64_t cpu_ns = 0;
  int64_t gpu_forward_ns = 0;
  int64_t gpu_backward_ns = 0;

  int64_t gpu_ns() const { return gpu_forward_ns + gpu_backward_ns; }
};

// By falling time of the line, then of the line inside: on the GPU, on the CPU where none worked.
// Lines that call operators themselves have no row for these.
std::vector<LineInside> MeasureLinesInside(const Store& store,
                                           const std::vector<StackTimes>& stacks);

}  // namespace batchlight
