// A new iterator of a DataLoader in every step.
#include <algorithm>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/loading/loader_workers.h"
#include "analysis/advice/rules.h"
#include "analysis/advice/sampled_callers.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

// A sampler that makes its order, or whose generator is thrown away with it.
bool IsSampler(const Store& store, const PythonFramesRow& frame) {
  const std::string_view function = store.Text(frame.function);
  return function.ends_with("Sampler.__iter__") ||
         (function.ends_with("__iter__") && store.Text(frame.file).ends_with("/sampler.py"));
}

// Of an iterator with workers: it starts them, waits for what they begin with, and ends them.
bool IsOfWorkers(const Store& store, const PythonFramesRow& frame) {
  if (!store.Text(frame.file).ends_with("torch/utils/data/dataloader.py")) return false;
  std::string_view function = store.Text(frame.function);
  function = function.substr(function.rfind('.') + 1);  // before Python 3.11 it has no class
  return function == "_get_data" || function == "_shutdown_workers" || function == "__del__" ||
         function == "_get_iterator";
}

bool IsOfIterator(const Store& store, const PythonFramesRow& frame) {
  return IsSampler(store, frame) || IsOfWorkers(store, frame);
}

// Of several loaders: what most of the steps' time went to.
bool HasWorkers(const RunMeasures& run, const ProcessSteps& main) {
  const PhaseCallsTable& phases = run.store->phase_calls;
  StepLookup lookup(&main);
  double of_workers_ns = 0;  // more than of the others
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != Phase::kDataLoaderNext || phases.thread[row] != main.thread) continue;
    if (!lookup.IsSteadyAt(phases.start_ns[row])) continue;
    const double ns = double(phases.end_ns[row]) - double(phases.start_ns[row]);
    of_workers_ns += IsSingleProcess(run.store->Text(phases.name[row])) ? -ns : ns;
  }
  return of_workers_ns > 0;
}

double IteratorsPerStep(const RunMeasures& run, const ProcessSteps& main) {
  const PhaseCallsTable& phases = run.store->phase_calls;
  StepLookup lookup(&main);
  size_t count = 0;
  for (size_t row = 0; row < phases.size(); ++row) {
    count += phases.phase[row] == Phase::kDataLoaderInit && phases.thread[row] == main.thread &&
             lookup.IsSteadyAt(phases.start_ns[row]);
  }
  return double(count) / double(main.steady.size());
}

}  // namespace

IteratorsInSteps IteratorsMadeInSteps(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || main->thread.IsNone() || main->steady.empty() || step_ns <= 0) return {};
  IteratorsInSteps made{.per_step = IteratorsPerStep(run, *main)};
  if (made.per_step < kIteratorsPerStep) return {};
  made.has_workers = HasWorkers(run, *main);
  made.sampled = CallersOf(made.has_workers ? IsOfIterator : IsSampler, *run.store).In(*main);
  made.exposed_ns = double(made.sampled.all_ns) / double(main->steady.size());
  if (run.gpu.MainBreakdown() != nullptr) {  // a GPU that works meanwhile hides it
    made.exposed_ns =
        std::min(made.exposed_ns, GpuPartNs(run, GpuPart::kIdleDataLoading) + OutsideIdleNs(run));
  }
  return made.exposed_ns < kIteratorsMade * step_ns ? IteratorsInSteps{} : made;
}

void LoaderIterators(const RunMeasures& run, Findings* findings) {
  const IteratorsInSteps made = IteratorsMadeInSteps(run);
  if (made.exposed_ns <= 0) return;
  const std::string where = FunctionText(*run.store, made.sampled.functions.front());
  const std::string share = PercentOf(made.exposed_ns / MeanStepNs(run));
  findings->push_back(
      {.title = where + " makes a new iterator of a DataLoader in every step, " + share + " of it",
       .seen = "A step makes " + Rounded(made.per_step) +
               " iterators, and samples of Python find it in their samplers " +
               (made.has_workers ? "or waiting for their workers " : "") + "for " +
               TimeOf(made.exposed_ns) + " (" + share + "), called by " + where + ".",
       .why = std::string(made.has_workers
                              ? "A new iterator starts its workers anew, waits for their first "
                                "batch, and ends them; it draws "
                              : "A new iterator draws ") +
              "the order of all samples again (RandomSampler: a permutation of "
              "the whole data set as a list), and one batch of it is used.",
       .action =
           "Make the iterator once, before the loop, and go on with it: next(iterator), and a "
           "new one only when it has ended.",
       .gain_ns = made.exposed_ns * kIteratorsMadeGain,
       .uncertainty_ns = made.exposed_ns * kIteratorsMadeUncertainty,
       .evidence = {{.kind = "call",
                     .name = "DataLoader.__iter__",
                     .per_step_ns = made.exposed_ns}},
       .patch = {.place = "",
                 .diff = "+def endless(loader):\n"
                         "+    while True:\n"
                         "+        yield from loader\n"
                         "+batches = endless(loader)  # before the loop\n"
                         "-batch = next(iter(loader))\n"
                         "+batch = next(batches)\n"}});
}

}  // namespace batchlight::advice
