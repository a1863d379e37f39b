// Which of its functions the loop is in between the phases of the model, by samples of Python.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/lines/code_samples.h"
#include "analysis/numbers/time_span.h"
#include "store/store.h"

namespace batchlight {

struct LoopFunction {
  SampledFunction function;  // line: where most of it is; ns: of the looks
  LookTimes times;           // the same, by what the loop did
  bool runs_model = false;   // it is on the stack in the model's phases: the loop itself
};

struct OwnedSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t function = 0;  // row of LoopOwners::functions
};

struct LoopOwners {
  std::vector<LoopFunction> functions;
  std::vector<OwnedSpan> spans;  // ordered, disjoint; where nobody looked, there is none
};

// `beside`: stretches of the loop's thread between the phases of the model, `model`: these phases.
// Every moment of a stretch belongs to the function in which the nearest look within it finds the
// loop: the outermost of the user's own that does not run the model too, else the innermost.
LoopOwners FindLoopOwners(const CodeSamples& samples, ThreadId thread,
                          const std::vector<TimeSpan>& beside, const std::vector<TimeSpan>& model);

}  // namespace batchlight
