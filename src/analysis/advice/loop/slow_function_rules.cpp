// A function of the program's own that takes a phase's time (breakdown/hot_functions.h).
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/code_hints.h"
#include "analysis/advice/rules.h"

namespace batchlight::advice {
namespace {

// Calls a step in which the hot function waits for the GPU; 0: few, or most are others'.
double WaitsOfHotFunction(const RunMeasures& run) {
  const double share = run.loop_work.hot.gpu_waits;
  if (share < kWaitsOfFunction) return 0;
  double calls = 0;
  for (const WaitRow& wait : run.gpu.waits) calls += wait.calls_per_step;
  return calls * share < kWaitingFunction ? 0 : calls * share;
}

struct SlowTime {
  double exposed_ns = 0;  // 0: no function is named
  double gain_ns = 0;
  double waits = 0;  // a step, for the GPU
};

// What a GPU hides is not exposed. A function that waits for it again and again leaves it nothing
// to do: the step can get as short as the GPU's work.
SlowTime SlowTimeOf(const RunMeasures& run) {
  const double step_ns = MeanStepNs(run), hot_ns = run.loop_work.hot.per_step_ns;
  if (step_ns <= 0 || hot_ns < kSlowFunction * step_ns) return {};
  if (run.loop_work.hot.phase == PhaseKind::kOptimizer && UpdatedByHandNs(run) > 0) return {};
  SlowTime time{.exposed_ns = hot_ns * CpuExposure(run), .waits = WaitsOfHotFunction(run)};
  time.gain_ns = time.exposed_ns * kSlowFunctionGain;
  if (time.waits > 0) {
    time.exposed_ns = std::max(time.exposed_ns, RemovableNs(run, hot_ns, 0));
    time.gain_ns = std::max(time.gain_ns, RemovableNs(run, hot_ns, 0) * kWaitingFunctionGain);
  }
  return time.exposed_ns < kSlowFunction * step_ns ? SlowTime() : time;
}

}  // namespace

double SlowFunctionNs(const RunMeasures& run) { return SlowTimeOf(run).exposed_ns; }

void SlowFunction(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  const HotFunction& hot = run.loop_work.hot;
  const SlowTime time = SlowTimeOf(run);
  if (time.exposed_ns <= 0) return;
  const std::string name = FunctionText(*run.store, hot.function);
  const std::string share = PercentOf(hot.per_step_ns / step_ns);
  findings->push_back(
      {.title =
           name + " takes " + share + " of a step, in " + std::string(PhaseKindName(hot.phase)),
       .seen = "Samples of Python find the step in " + name + " for " + TimeOf(hot.per_step_ns) +
               " of it (" + share + "), beside operators " +
               (run.gpu.empty() ? "that take long." : "of the model.") +
               (time.waits > 0 ? " It waits for the GPU " + Rounded(time.waits) + " times a step."
                               : ""),
       .why = std::string("Loops over values or rows in Python, operators on a few numbers each "
                          "and lists of tensors that are stacked cost microseconds where a "
                          "tensor's operator costs nanoseconds a number.") +
              (time.waits > 0 ? " A number of a tensor on the GPU as a condition (if x[i] < y, "
                                ".item()) waits each time, and the GPU then has nothing to do."
                              : ""),
       .action = std::string(time.waits > 0 ? "Decide on the GPU for all at once (torch.where, "
                                              "masked_fill, index_copy), without asking for a "
                                              "number. "
                                            : "") +
                 HintFor(*run.store, hot.function).text +
                 "Do it with operators on whole tensors, write rows into one tensor that is kept, "
                 "keep the result where it is the same every time, or do it every N steps.",
       .gain_ns = time.gain_ns,
       .uncertainty_ns = time.exposed_ns * kSlowFunctionUncertainty,
       .evidence = {{.kind = "function",
                     .name = name,
                     .per_step_ns = hot.per_step_ns,
                     .event = EventOfFunction(hot.function.function),
                     .longest = hot.function.longest}},
       .patch = {}});
}

}  // namespace batchlight::advice
