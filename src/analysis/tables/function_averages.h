// The rows of torch.profiler's key_averages(), found as its FunctionEvent code finds them
// (torch/autograd/profiler.py, profiler_util.py): operators, annotations, CUDA calls, work of the
// GPU, and annotations as they are on the GPU.
//
// A call of the CPU is a child of the innermost one of its thread that it lies in, whatever their
// kinds: the self time of an operator is without the CUDA calls inside. A child that is the only
// one and has the name of its parent is the parent's work, not a row of its own. Work of the GPU
// belongs to the innermost operator around the call that launched it. An annotation is on the GPU
// from the first to the last work of a stream whose launch it is the innermost annotation around.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/store.h"

namespace batchlight {

struct FunctionAverage {
  std::string name;
  StringId operator_name;  // None: not an operator
  StringId shapes;         // None: of all, or not recorded
  bool on_gpu = false;
  bool is_annotation = false;
  int64_t calls = 0;
  int64_t cpu_ns = 0;  // with what is inside; a call inside one of its name counts again
  int64_t cpu_self_ns = 0;
  int64_t gpu_ns = 0;
  int64_t gpu_self_ns = 0;
};

// By self time on the CPU, then on the GPU, the most first. `by_shape`: a row for each set of sizes
// of inputs.
std::vector<FunctionAverage> FunctionAverages(const Store& store, bool by_shape);

}  // namespace batchlight
