// The ways to find the steps of one process; FindSteps() takes the first that finds some.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/phases/phase_marks.h"
#include "analysis/steps/steps.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

// What all of them look at, made once for a store.
struct StepInputs {
  explicit StepInputs(const Store& store);

  const Store& store;
  PhaseMarks marks;
  ThreadSpans range_rows;
  ThreadSpans operator_rows;
  ThreadSpans phase_rows;
  IntervalIndex ranges;  // of one thread each: without ranges that end on another thread
  std::vector<std::vector<ThreadId>> threads_of_process;
};

struct FoundSteps {
  StepSource source = StepSource::kNone;
  ThreadId thread;
  std::string marker;
  std::vector<Step> steps;
  size_t overlapping = 0;  // ranges that begin in a step and end after it: left out
};

using FoundStepsOrNone = std::optional<FoundSteps>;

FoundStepsOrNone StepsFromRanges(const StepInputs& inputs, ProcessId process);
FoundStepsOrNone StepsFromOptimizer(const StepInputs& inputs, ProcessId process);
FoundStepsOrNone StepsFromDataLoader(const StepInputs& inputs, ProcessId process);
// From one replay of the step's CUDA graph to the next.
FoundStepsOrNone StepsFromReplays(const StepInputs& inputs, ProcessId process);
FoundStepsOrNone StepsFromOperatorPeriod(const StepInputs& inputs, ProcessId process);
// `kernels`: rows of the process in order of start.
FoundStepsOrNone StepsFromKernelPeriod(const StepInputs& inputs, ProcessId process,
                                       const std::vector<uint32_t>& kernels);
// Steps that reach from one end of `key` (a range, operator, phase or module) to the next.
FoundStepsOrNone StepsFromKey(const StepInputs& inputs, ProcessId process, const std::string& key);
// The ends of the calls that it names, thread by thread; empty if there are none.
struct KeyEnd {
  int64_t time_ns;
  ThreadId thread;
};
std::vector<KeyEnd> EndsOfKey(const StepInputs& inputs, ProcessId process, const std::string& key);
// "; did you mean a or b?", or the most frequent names if none is similar. Ends a sentence.
std::string NamesLike(const Store& store, const std::string& key);

StepSet FindSteps(const StepInputs& inputs, const StepOptions& options);

// The optimizer steps that end a step: of several optimizers, those of the last.
std::vector<PhaseMark> StepEndingOptimizers(const StepInputs& inputs, ThreadId thread);

// A range name without its numbers: "Step 12/100" -> base "step_#_#", number 12 (the first run of
// digits that follows a word).
struct RangeName {
  std::string base;
  int64_t number = -1;  // -1: none
};
RangeName SplitRangeName(std::string_view name);
// step, train_step, iteration, batch, ProfilerStep#, ...
bool IsStepRangeName(std::string_view base);

}  // namespace batchlight
