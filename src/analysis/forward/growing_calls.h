// Calls of one model in a row, without gradients, each of which works on as much more as any other
// does than the one before, and between which a tensor is made longer: tokens are generated one by
// one, and each sends all before it through the model again. With a KV cache only the first call
// (the prompt) works on more than one position. Batches of a DataLoader are no such row.
#pragma once

#include <cstdint>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

class PhaseMarks;

struct GrowingCalls {
  uint64_t rows = 0;
  uint64_t calls = 0;   // in all rows
  StringId class_name;  // of the model
  int64_t span_ns = 0;  // from the first call of each row to the end of its last
  int64_t work_ns = 0;  // of the GPU for these calls, beyond a row's first; without one of the CPU
  int64_t calling_ns = 0;  // what the CPU takes to make as many calls; 0 without a GPU
  double positions = 0;    // mean of those that a call works on, one of which is new
};

// Between the first step of the training thread and the last. No rows: none is found, or neither
// kernels nor shapes of operators were recorded.
GrowingCalls FindGrowingCalls(const Store& store, const ProcessSteps& main,
                              const PhaseMarks& marks);

}  // namespace batchlight
