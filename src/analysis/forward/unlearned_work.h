// Factorizations of matrices in the forward of a model that learns, with what is computed for them,
// that autograd does not follow: nothing that learns goes into them, so what comes out is often the
// same in every step (a whitening of fixed centers, an inverse of a covariance).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

class PhaseMarks;

// What else of a module's own operators autograd does not follow, of all steady steps.
struct PlainWork {
  StringId module;
  int64_t ns = 0;
  uint64_t calls = 0;      // of the module, in which that was and others are followed
  StringId operator_name;  // most of it
};

struct UnlearnedWork {
  int64_t ns = 0;                   // of all steady steps
  uint64_t stretches = 0;           // in how many places of forwards
  StringId module;                  // the innermost around the longest; None: none
  std::vector<StringId> operators;  // the factorizations, by falling time
  std::vector<PlainWork> plain;     // beside these, by falling time
};

// Of the training thread; nullptr: there is none.
UnlearnedWork FindUnlearnedWork(const Store& store, const ProcessSteps* main,
                                const PhaseMarks& marks);

}  // namespace batchlight
