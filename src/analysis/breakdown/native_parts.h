// In which native functions threads were, by CPU samples, in each phase of a step and, while a GPU
// waited for its launching thread, for each cause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/cpu/sample_sums.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"

namespace batchlight {

// Which part each sample of the steady steps lies in, by its moment.
struct SampleParts {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<std::string> names;
  std::vector<uint32_t> part;  // by row of store.cpu_samples; kNone: in none
};
// "forward", "augment #": of the threads that run the steps.
SampleParts PhasesOfSamples(const StepInputs& inputs, const StepSet& steps);
// "data loading", "own Python": of the threads whose launches ended a gap of a GPU, while it
// lasted.
SampleParts IdleCausesOfSamples(const StepInputs& inputs, const StepSet& steps);

struct NativeInPart {
  std::string part;
  FunctionSum sum;
  int64_t part_cpu_ns = 0;  // of all samples of the part
};
// Parts by their processor time, most first, and in each functions by time of their own.
std::vector<NativeInPart> SumFunctionsByPart(const Store& store, const SampleParts& parts);

// Stacks with the part that they lie in.
struct StackInPart {
  uint32_t part = 0;
  SampledStack sampled;
};
// By part, then by thread and stack.
std::vector<StackInPart> SumStacksByPart(const Store& store, const SampleParts& parts);

}  // namespace batchlight
