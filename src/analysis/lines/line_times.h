// Time of each line of the user's Python code: of the operators that it called and, on the GPU, of
// what these launched, forward and backward. What no line made has rows of its own, so that the sum
// over rows is all that was recorded.
//
// A line is the innermost one of the user's own code (not of an installed package, PyTorch's or
// Python's) in the stack of whoever called. Backward belongs to the line whose forward it
// differentiates.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/lines/stack_lines.h"
#include "store/store.h"

namespace batchlight {

class BackwardLinks;
struct Attribution;

enum class LineKind : uint8_t {
  kLine,        // a line of code
  kOptimizer,   // the optimizer's step, by the line that calls it
  kBackward,    // backward that is no operator's: sums of gradients, the engine; by its caller
  kHook,        // Python code that runs inside backward, by its line
  kCollective,  // NCCL
  kOutside,     // launched, or called, where no Python line is known
};
std::string_view LineKindName(LineKind kind);

struct LineRow {
  LineKind kind = LineKind::kLine;
  PythonFrameId frame;  // None: no line
  PythonStackId stack;  // of those that reached the line, the one that took longest
  uint64_t calls = 0;   // of operators, forward
  int64_t cpu_forward_ns = 0;
  int64_t cpu_backward_ns = 0;
  int64_t cpu_recompute_ns = 0;  // forward that checkpointing runs again
  int64_t gpu_forward_ns = 0;
  int64_t gpu_backward_ns = 0;
  int64_t gpu_recompute_ns = 0;

  int64_t cpu_ns() const { return cpu_forward_ns + cpu_backward_ns + cpu_recompute_ns; }
  int64_t gpu_ns() const { return gpu_forward_ns + gpu_backward_ns + gpu_recompute_ns; }
};

struct LineTimes {
  std::vector<LineRow> rows;  // by falling GPU time, then CPU time
  int64_t gpu_ns = 0;         // of all work on the GPU
  int64_t cpu_ns = 0;         // of all operators, each moment of a thread once

  bool empty() const { return rows.empty(); }
};

// No rows where no stacks were recorded.
LineTimes MeasureLines(const Store& store, const BackwardLinks& links, const Attribution& work);

}  // namespace batchlight
