// Calls of modules that autograd follows and that no backward comes back to, by the numbers that
// PyTorch gives to the nodes of the autograd graph. Each thread counts its own: a number that any
// thread of the process runs backward is taken for the loop's, so that a call may be missed, not
// made up.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/phases/loop_events.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

class UnlearnedCalls {
 public:
  explicit UnlearnedCalls(const Store& store);

  // Sets `unlearned` of the events of a thread, whose operators are these; of none where too little
  // of what backward runs is known to belong to the calls before it.
  void Mark(ThreadSpans::Rows operator_rows, std::vector<LoopEvent>& events) const;

 private:
  const Store& store_;
  std::vector<std::vector<int64_t>> backward_;  // by process: numbers that backward runs, sorted
};

}  // namespace batchlight
