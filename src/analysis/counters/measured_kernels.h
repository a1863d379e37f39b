// Which kernel each value of a counter belongs to, where kernels were measured one by one. CUPTI
// numbers them as they ran; they ran one after the other, so that the recorded kernels of the same
// stretch tell which is which. Passes that measured other steps are put together: the how many-th
// launch of a kernel with its grid, block and stream is the same one in each. A launch that was
// replayed has a stretch of its own, in which it may be recorded several times.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "store/store.h"

namespace batchlight {

// One launch of a step, with what all passes said of it.
struct MeasuredKernel {
  ProcessId process;
  uint32_t device = 0;
  bool is_graph = false;  // a whole CUDA graph: its kernels cannot be told apart
  bool by_node = false;   // recorded node by node, as graphs are in windows
  // In the first step that measured it: of kernels, or of graph_launches. Of a graph by node its
  // first kernel; beyond all kernels: it has none.
  size_t row = 0;
  uint32_t passes = 0;  // that measured it
  double time_ns = 0;   // mean over these, on the GPU
  double least_ns = 0;
  double most_ns = 0;
  std::vector<std::pair<StringId, double>> values;  // by metric; the first pass that has it

  const double* Find(StringId metric) const;  // nullptr: was not read
};

struct MeasuredKernels {
  std::vector<MeasuredKernel> kernels;  // by process, in the order in which they ran
  uint32_t steps = 0;                   // that were measured kernel by kernel
  // Of these: as other work ran than was counted, nobody can say whose the values are.
  uint32_t steps_unmatched = 0;
  uint32_t replays_unmatched = 0;  // likewise launches that were replayed
  uint64_t incomplete = 0;         // launches that some passes of their process did not see
};

MeasuredKernels FindMeasuredKernels(const Store& store);

}  // namespace batchlight
