// What Python's garbage collector takes of the training thread.
#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/numbers/time_span.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

struct Collections {
  std::vector<TimeSpan> spans;  // in steady steps of the training thread, in order
  int64_t ns = 0;
};

Collections FindCollections(const Store& store, const ProcessSteps& main) {
  Collections found;
  const PhaseCallsTable& phases = store.phase_calls;
  StepLookup steps(&main);
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != Phase::kGarbageCollection || phases.thread[row] != main.thread ||
        phases.end_ns[row] == kOpenEnd || !steps.IsSteadyAt(phases.start_ns[row])) {
      continue;
    }
    found.spans.push_back({phases.start_ns[row], phases.end_ns[row]});
    found.ns += phases.end_ns[row] - phases.start_ns[row];
  }
  return found;
}

// Where most of them came, by samples; "" where none is known.
std::string PlaceOf(const RunMeasures& run, const ProcessSteps& main, const Collections& found) {
  const SampledTime time = CodeSamples(*run.store).During(main.thread, found.spans);
  if (time.functions.empty() || 2 * time.functions.front().ns < time.all_ns) return "";
  return FunctionText(*run.store, time.functions.front());
}

}  // namespace

void GarbageCollection(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steady.empty() || main->thread.IsNone()) return;
  const Collections found = FindCollections(*run.store, *main);
  const double per_step_ns = double(found.ns) / double(main->steady.size());
  if (found.ns == 0 || per_step_ns < kCollections * MeanStepNs(run)) return;
  const double exposed_ns = per_step_ns * CpuExposure(run);
  const std::string place = PlaceOf(run, *main, found);
  const double mean_ns = double(found.ns) / double(found.spans.size());
  findings->push_back(
      {.title = "Python's garbage collector stops the training",
       .seen = std::to_string(found.spans.size()) + " full collections in the steady steps took " +
               TimeOf(mean_ns) + " each, " + TimeOf(double(found.ns)) + " in all" +
               (place.empty() ? "." : ", most of it in " + place + "."),
       .why = "A full collection looks at every object that the program keeps, and nothing else of "
              "Python runs meanwhile. It comes when enough objects were made, or by gc.collect().",
       .action = "Take gc.collect() out of the loop if the program calls it. Else call gc.freeze() "
                 "before the loop, and gc.disable() in it with a gc.collect() between epochs; or "
                 "keep arrays and tensors instead of many Python objects.",
       .gain_ns = exposed_ns * kCollectionsGain,
       .uncertainty_ns = exposed_ns * kCollectionsUncertainty,
       .evidence = {{.kind = "call",
                     .name = "garbage collection",
                     .count = found.spans.size(),
                     .per_step_ns = per_step_ns,
                     .longest = LongestOf(found.spans)}},
       .patch = {.place = "",
                 .diff = "+gc.collect()\n"
                         "+gc.freeze()\n"
                         "+gc.disable()\n"
                         " for batch in loader:\n"}});
}

}  // namespace batchlight::advice
