// Memory that operators took and did not give back: allocations minus releases while a call of the
// operator was the innermost one (self), or was open at all (total), by name, and by name and
// shapes. The requests are those recorded: to PyTorch's allocators in a Kineto trace; in a
// recording blocks of its allocator of GPU memory and of RAM (--cuda-memory-usage with
// --python-lines=gpu,
// --python-memory) or, without the first, requests to CUDA.
//
// Who releases a block is not recorded: the thread that allocated it, if it is in an operator then,
// else the only other thread of the process that is (autograd's, which ends what forward began).
#pragma once

#include <cstdint>
#include <unordered_map>

#include "analysis/steps/steps.h"
#include "store/interval_index.h"
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
  void AddEvents(const Store& store, const StepSet& steps, const IntervalIndex& operators);
  void AddBlocks(const Store& store, const IntervalIndex& operators);
  void Add(const Store& store, uint32_t call, int64_t bytes, bool on_gpu);

  bool has_cpu_ = false;
  bool has_gpu_ = false;
  std::unordered_map<uint64_t, OperatorMemory> known_;  // by name and shapes
};

}  // namespace batchlight
