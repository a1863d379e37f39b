// What the loop does outside of forward, backward, optimizer and loading: in stretches that no
// phase explains, and in ranges of the user. Two things take time there:
//   - Python of the program itself: time in no operator and no CUDA call. Up to kOperatorGapNs
//     between two operators belongs to calling them.
//   - operators that take no part in autograd, one by one: averages of weights, clipping by hand.
// What it costs the GPU: beside_model.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/breakdown/beside_model.h"
#include "analysis/breakdown/hot_functions.h"
#include "analysis/lines/code_samples.h"
#include "analysis/numbers/time_span.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// Between two operators: what calling one takes in Python.
inline constexpr int64_t kOperatorGapNs = 30'000;

// Where the time goes, by falling time.
struct WorkPlace {
  std::string name;        // "range `tokenize`", "between optimizer and `aten::embedding`"
  bool is_range = false;   // of the user: the name says what it does
  double per_step_ns = 0;  // mean
  uint64_t count = 0;
  TimeSpan longest{};  // of them
};

// Python of the program's own that only some steps run, and for long: pictures, reports.
struct RarePython {
  size_t steps = 0;        // that do; of the steady ones
  double per_step_ns = 0;  // what they do more than the median step, over all steady steps
  SampledTime functions;   // that ran in it
};

struct OwnPython {
  // Of the mean step, by the median of its share of each: what other programs do to some steps is
  // not the program's own.
  double per_step_ns = 0;
  std::vector<WorkPlace> places;
  SampledTime functions;  // that ran meanwhile, where Python was sampled
  // Functions of the packages that run the loop (a Trainer's), where they ran and not the program.
  SampledTime of_packages;
  SampledTime whole;  // of the whole loop
  RarePython rare;
  double freeing_ns = 0;  // of a mean step: batches are freed behind their copy (freed_batches.h)
};

struct LooseOperators {
  double calls_per_step = 0;
  double per_step_ns = 0;  // with the time to call them
  std::vector<WorkPlace> operators;
  SampledTime functions;  // that called them, where Python was sampled
};

struct LoopWork {
  OwnPython python;
  LooseOperators operators;
  HotFunction hot;
  BesideModel beside;   // with a GPU
  SampledTime loading;  // what the loop's thread ran while it loaded data
  std::map<FunctionName, int64_t> loading_stacks;  // and all functions that were on the stack then
};

// Of the steady steps of the main process; `beside` alone where operators were not recorded.
LoopWork FindLoopWork(const StepInputs& inputs, const StepSet& steps);

}  // namespace batchlight
