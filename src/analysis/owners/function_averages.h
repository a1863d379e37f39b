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
#include <functional>
#include <mutex>
#include <string>
#include <utility>
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

// Whether a call counts: its thread, start and end.
using CallCounts = std::function<bool(ThreadId, int64_t, int64_t)>;

// Found when a view first asks: no other measure needs them, and they look at every call of a run.
class FunctionAverages {
 public:
  // Without `counts` of the whole run; else of the calls that count, and of the GPU's work that
  // they launch.
  explicit FunctionAverages(const Store& store, CallCounts counts = {})
      : store_(store), counts_(std::move(counts)) {}

  // By self time on the CPU, then on the GPU, the most first.
  const std::vector<FunctionAverage>& by_name() const { return Found().by_name; }
  // A row for each set of sizes of inputs. Empty where no sizes were recorded.
  const std::vector<FunctionAverage>& by_shape() const { return Found().by_shape; }

 private:
  struct Rows {
    std::vector<FunctionAverage> by_name;
    std::vector<FunctionAverage> by_shape;
  };
  const Rows& Found() const;

  const Store& store_;
  const CallCounts counts_;
  mutable std::once_flag once_;
  mutable Rows rows_;
};

}  // namespace batchlight
