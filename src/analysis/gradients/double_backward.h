// Gradients that a loss is made of: calls of torch.autograd.grad(..., create_graph=True) in steps,
// and the backward functions that later go back through what those calls computed. Whether a
// program could do without (a penalty that keeps a critic smooth) or not (a differential equation,
// forces) is not known here.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

class BackwardLinks;
class PhaseMarks;
struct Attribution;

struct DoubleBackward {
  std::vector<TimeSpan> calls;  // of torch.autograd.grad in steady steps, in order; empty: nothing
                                // goes back through them
  int64_t cpu_ns = 0;           // of all steady steps: these calls, and backward through them
  int64_t gpu_ns = 0;           // work that these launched
};

// Of the main process. `work`: of the GPU.
DoubleBackward FindDoubleBackward(const Store& store, const ProcessSteps* main,
                                  const PhaseMarks& marks, const BackwardLinks& links,
                                  const Attribution& work);

}  // namespace batchlight
