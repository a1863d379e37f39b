// Calls of modules that autograd follows and no backward comes back to: what they returned was
// thrown away, looked at, or detached. Calls without gradients are none (validation, a teacher
// under no_grad), nor are those that backward itself makes (activation checkpointing).
#pragma once

#include <cstdint>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

class BackwardLinks;
class PhaseMarks;

// The module with most of it; calls inside of such a call are part of it.
struct UnusedForward {
  StringId path;
  uint64_t calls = 0;       // in steady steps
  int64_t ns = 0;           // their sum
  uint64_t used_calls = 0;  // calls of the same module that backward comes back to
};

// Of the training thread; no calls where nothing is unused, or too little of backward is known.
UnusedForward FindUnusedForward(const Store& store, const ProcessSteps& main,
                                const PhaseMarks& marks, const BackwardLinks& links);

}  // namespace batchlight
