// Gradients that nobody uses: a backward that runs on into modules which no optimizer steps before
// gradients are set to zero again (a generator's output that was not detached, a frozen backbone).
//
// A backward function that runs before one whose module is updated may be on the way to it. What
// runs after the last of those is for nothing; and so is all of a part apart (parts_apart.h). Which
// modules an optimizer updates is said by the program's process: property "updates.<name of its
// step>", paths with ", " between them. On its way to what is updated backward computes a gradient
// for every weight that asks for one, too, whether an optimizer has it or not.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

class BackwardLinks;
class PhaseMarks;
struct Attribution;

struct UnusedGradients {
  int64_t cost_ns = 0;   // of all steady steps: CPU time, with a GPU the GPU's
  int64_t cpu_ns = 0;    // of the same: CPU time
  StringId root;         // the model, or part apart, with most of it
  StringId optimizer;    // name of the step that does not update it
  bool in_part = false;  // the step updates another part of that model
  bool updated_elsewhere = false;
  bool apart = false;             // no gradient leaves it on the way to what is updated
  bool nested = false;            // it is a part of a model
  bool named_from_model = false;  // and its path begins with that model's name
  std::string stepped;            // the paths that the step updates: "`D`, `head`"
  // Gradients of parameters that are no optimizer's (unheld_parameters.h) in what backward has to
  // go through on its way to what is updated; in no time above.
  int64_t unheld_ns = 0;      // of all steady steps: CPU time, with a GPU the GPU's
  int64_t unheld_cpu_ns = 0;  // of the same: CPU time
};

// Of the training thread; cost 0 where nothing is unused or nothing is known. `work`: of the GPU.
UnusedGradients FindUnusedGradients(const Store& store, const ProcessSteps* main,
                                    const PhaseMarks& marks, const BackwardLinks& links,
                                    const Attribution& work);

}  // namespace batchlight
