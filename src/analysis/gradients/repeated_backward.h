// Backward functions that run again for the same forward: backward(retain_graph=True) of one loss
// after another goes through all that they share each time. PyTorch numbers the nodes of the
// autograd graph, so that a function that runs twice for one operator is seen as such.
//
// Where a state is carried on without detach() (windows of a text, rollouts), each backward also
// goes through the forwards that came before the one before: it grows from call to call.
//
// A function that runs again behind the step of an optimizer is not counted (a critic's loss and
// then a generator's, each for parameters of its own), and nothing is where gradients have
// gradients (create_graph=True goes through the graph again for good reason).
#pragma once

#include <cstdint>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

class BackwardLinks;
class PhaseMarks;
struct Attribution;

struct RepeatedBackward {
  int64_t cpu_ns = 0;      // of all steady steps: every run but the first of each function
  int64_t gpu_ns = 0;      // work that these launched
  uint64_t repeats = 0;    // functions that ran again, each time counted
  uint64_t functions = 0;  // that did, once each
  // Each backward() goes through a forward of its own and through more that has been before.
  bool grows = false;

  // How often one of them runs in a step, in the mean.
  double times() const { return functions == 0 ? 0 : 1 + double(repeats) / double(functions); }
};

// Of the main process. `work`: of the GPU.
RepeatedBackward FindRepeatedBackward(const Store& store, const ProcessSteps* main,
                                      const PhaseMarks& marks, const BackwardLinks& links,
                                      const Attribution& work);

}  // namespace batchlight
