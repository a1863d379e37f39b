// A training run made by hand for tests of the report: a small Transformer with warm-up steps, an
// outlier and a checkpoint, and names that try to break the page, the tables and the snippet.
#pragma once

#include <cstddef>

#include "store/store.h"

namespace batchlight::testing {

struct SampleRun {
  size_t steps = 60;
  size_t operators_per_step = 40;  // at least 10
  int forward_ms = 7;
  bool hostile_names = true;
  bool loss = true;  // some events were dropped
  bool gpu = false;  // kernels too
  // With the GPU also a batch that is copied to it, a collective of NCCL, a backward with operators
  // of its own and a wait for the GPU in each step.
  bool all_of_gpu = false;
};

Store MakeSampleRun(const SampleRun& run = {});

}  // namespace batchlight::testing
