// Memory that operators took and did not give back: allocations minus releases while a call of the
// operator was the innermost one (self), or was open at all (total), by name, and by name and
// shapes. The requests are those recorded: to PyTorch's allocators in a Kineto trace, to CUDA in a
// recording (--cuda-memory-usage).
#pragma once

#include <cstdint>
#include <unordered_map>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct OperatorMemory {
  int64_t cpu_bytes = 0;  // with the operators inside
  int64_t cpu_self_bytes = 0;
  int64_t gpu_bytes = 0;
  int64_t gpu_self_bytes = 0;
};

class OperatorMemories {
 public:
  OperatorMemories(const Store& store, const StepSet& steps);

  bool has_cpu() const { return has_cpu_; }  // any was recorded, in operators or outside
  bool has_gpu() const { return has_gpu_; }
  // `shapes` None: summed over shapes.
  OperatorMemory Of(StringId name, StringId shapes) const;

 private:
  void Add(const Store& store, uint32_t call, int64_t bytes, bool on_gpu);

  bool has_cpu_ = false;
  bool has_gpu_ = false;
  std::unordered_map<uint64_t, OperatorMemory> known_;  // by name and shapes
};

}  // namespace batchlight
