// Which functions of the program's own call a function of a library, by samples of Python: the time
// in that function, with all that it calls, belongs to the innermost frame of the user's around it.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/lines/code_samples.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight::advice {

class CallersOf {
 public:
  using Test = bool (*)(const Store& store, const PythonFramesRow& frame);

  // The store must outlive this.
  CallersOf(Test is_callee, const Store& store);

  // In the steady steps of the loop's thread, callers by falling time. Calls that no function of
  // the user's is around are left out.
  SampledTime In(const ProcessSteps& main);

 private:
  // Row of the user's frame that called; kNoRow: none.
  uint32_t CallerOn(PythonStackId innermost);

  Test is_callee_;
  const Store& store_;
  std::vector<uint32_t> callers_;  // by row of python_stacks
};

}  // namespace batchlight::advice
