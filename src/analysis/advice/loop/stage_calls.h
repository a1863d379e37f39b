// What the training thread asks of models and operators in stages of a kind: rollouts, validation.
#pragma once

#include <cstdint>

#include "analysis/run/run_measures.h"
#include "analysis/stages/stages.h"

namespace batchlight::advice {

struct StageCalls {
  uint64_t stretches = 0;
  uint64_t products = 0;  // of the model's layers, whose rows are known
  uint64_t of_one_row = 0;
  uint64_t scalars_read = 0;  // tensors of one number made Python's
  uint64_t model_calls = 0;   // of modules that no other module called
  int64_t module_ns = 0;      // in modules that no other module called
  int64_t operator_ns = 0;    // in operators that no other called, and in Python to call them
  uint64_t operators = 0;     // that no other called
  uint64_t followed = 0;      // of these by autograd

  double model_ns() const;
  // Without shapes: who reads a number for each call asked for one sample. That of the last call
  // may be read when a stretch is over.
  bool AreOfOne() const;
};

StageCalls CallsInStage(const RunMeasures& run, StageKind kind);

}  // namespace batchlight::advice
