// What GPU memory was first needed for, judged by where it was allocated. The recording shows what
// CUDA was asked for, not what PyTorch's caching allocator does with it: a block keeps its category
// when the allocator reuses it. The first rule that fits decides:
//   1. before the first step of the process: model (parameters, buffers, set-up);
//   2. in the optimizer: optimizer state;
//   3. in backward, also on a thread of autograd's: gradients and temporaries of the backward pass;
//   4. in data loading or the copy to the device: input;
//   5. in forward, loss or a module's forward: activations;
//   6. anywhere else, or where the call is not known: other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/phases/phase_marks.h"
#include "analysis/steps/steps.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

enum class MemoryCategory : uint8_t {
  kModel,
  kOptimizerState,
  kGradients,
  kInput,
  kActivations,
  kOther,
};
inline constexpr size_t kMemoryCategoryCount = 6;
std::string_view MemoryCategoryName(MemoryCategory category);
std::string_view MemoryCategoryKey(MemoryCategory category);   // "optimizer_state", for files
std::string_view MemoryCategoryRule(MemoryCategory category);  // which rule decided, in words

class MemoryCategories {
 public:
  MemoryCategories(const Store& store, const StepSet& steps);

  MemoryCategory Of(size_t event_row) const;
  // "aten::empty in encoder.layers.0": the operator and module around the allocation; may be "".
  std::string PlaceOf(size_t event_row) const;
  // The thread that asked, directly or by its CUDA call; if unknown, the thread of the steps.
  ThreadId ThreadOf(size_t event_row) const;

 private:
  PhaseKind PhaseAt(ThreadId thread, int64_t time_ns) const;

  const Store& store_;
  const StepSet& steps_;
  PhaseMarks marks_;
  std::vector<ThreadId> mark_threads_;
  std::vector<int64_t> mark_starts_, mark_ends_;
  IntervalIndex phases_;
  IntervalIndex operators_;
  IntervalIndex modules_;
  std::unordered_map<uint64_t, ApiCallId> calls_;  // by process and correlation
};

}  // namespace batchlight
