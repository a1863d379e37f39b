// What happened on the thread of a training loop, in order, as far as it tells training from
// validation. Made for FindEvaluations().
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/phases/phase_marks.h"

namespace batchlight {

enum class LoopEventKind : uint8_t {
  kCall,  // of a module that no other module called
  kBackward,
  kOptimizer,
  kLoaderStart,
  kLoaderNext,
  kTrainMode,
  kEvalMode,
  kCheckpoint,
};

struct LoopEvent {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  LoopEventKind kind = LoopEventKind::kCall;
  bool eval_mode = false;  // of a call
  bool no_grad = false;
  bool unlearned = false;  // of a call with gradients on: no backward comes back to it
  bool closure = false;    // an optimizer's step that runs forward and backward itself
  StringId path;           // of a call's module
  uint32_t step = 0;       // updates before it
};

struct LoopEvents {
  std::vector<LoopEvent> rows;        // ordered by start
  std::vector<StringId> in_closures;  // modules that are called inside of optimizer steps
  std::vector<int64_t> losses;        // when operators that compute a loss began, in order
  std::vector<int64_t> metrics;       // when Python read a number that was just summed up, in order
  uint32_t steps = 0;                 // updates: optimizers that step one after the other are one
};

// Calls inside of a backward (recomputation) and of an optimizer's step (closures: LBFGS,
// Lightning) are left out, as are those in a stretch that the user calls validation.
LoopEvents CollectLoopEvents(const Store& store, const std::vector<PhaseMark>& marks,
                             ThreadSpans::Rows mark_rows, ThreadSpans::Rows phase_rows,
                             ThreadSpans::Rows operator_rows);

}  // namespace batchlight
