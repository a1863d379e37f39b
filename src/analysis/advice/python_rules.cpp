// What the loop does beside forward, backward, optimizer and loading (breakdown/loop_work.h).
#include <algorithm>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"

namespace batchlight::advice {
namespace {

constexpr size_t kMostNames = 3;

double ShareOutsideOfPhases(const RunMeasures& run) {
  return PhaseShareOf(run, PhaseKind::kOther) + PhaseShareOf(run, PhaseKind::kUserRange);
}

std::vector<Evidence> EvidenceOf(const std::vector<WorkPlace>& places, std::string_view kind) {
  std::vector<Evidence> evidence;
  for (const WorkPlace& place : places) {
    if (evidence.size() >= 5) break;
    evidence.push_back({.kind = place.is_range ? "range" : std::string(kind),
                        .name = place.name,
                        .count = place.count,
                        .per_step_ns = place.per_step_ns});
  }
  return evidence;
}

// "`tokenize`, `collect_metrics`": ranges that hold a tenth or more of the time; "" where most of
// it is in none.
std::string RangeNames(const OwnPython& python) {
  double named_ns = 0;
  size_t count = 0;
  std::string names;
  for (const WorkPlace& place : python.places) {
    if (!place.is_range) continue;
    named_ns += place.per_step_ns;
    if (count == kMostNames || place.per_step_ns < kNamedPython * python.per_step_ns) continue;
    names += (count++ == 0 ? "`" : ", `") + place.name + '`';
  }
  return named_ns > python.per_step_ns / 2 ? names : "";
}

// Full collections in the steps that count, as the bridge of Python names them.
struct Collections {
  uint64_t count = 0;
  double per_step_ns = 0;
};

Collections CollectionsOf(const RunMeasures& run) {
  Collections found;
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steady.empty()) return found;
  const PhaseCallsTable& calls = run.store->phase_calls;
  const auto is_steady = [main](int64_t at_ns) {
    return std::any_of(main->steady.begin(), main->steady.end(), [&](size_t i) {
      return main->steps[i].start_ns <= at_ns && at_ns < main->steps[i].end_ns;
    });
  };
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.phase[row] != Phase::kFunction || calls.end_ns[row] == kOpenEnd) continue;
    if (run.store->Text(calls.name[row]) != "garbage collection") continue;
    if (run.store->ProcessOf(calls.thread[row]) != main->process) continue;
    if (!is_steady(calls.start_ns[row])) continue;
    ++found.count;
    found.per_step_ns += double(calls.end_ns[row] - calls.start_ns[row]);
  }
  found.per_step_ns /= double(main->steady.size());
  return found;
}

}  // namespace

void GarbageCollection(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  const Collections collections = CollectionsOf(run);
  const double exposed_ns = collections.per_step_ns * CpuExposure(run);
  if (step_ns == 0 || exposed_ns < kCollections * step_ns) return;
  findings->push_back(
      {.title = "Python's garbage collection takes " +
                PercentOf(collections.per_step_ns / step_ns) + " of a step",
       .seen = std::to_string(collections.count) + " full collections in " +
               std::to_string(run.steps.Main()->steady.size()) + " steps take " +
               TimeOf(collections.per_step_ns) +
               " a step: they look at every object of the program.",
       .why = "PyTorch frees tensors as soon as nothing refers to them; a collection only finds "
              "objects that refer to each other.",
       .action =
           "Remove gc.collect() (and torch.cuda.empty_cache(), which often stands beside it) "
           "from the loop, or call it once an epoch. If Python starts the collections itself: "
           "gc.freeze() after setting up, or gc.disable() in the loop.",
       .gain_ns = exposed_ns * kOwnPythonGain,
       .uncertainty_ns = exposed_ns * kOwnPythonUncertainty,
       .evidence = {{.kind = "function",
                     .name = "garbage collection",
                     .count = collections.count,
                     .per_step_ns = collections.per_step_ns}},
       .patch = {.place = {}, .diff = "-gc.collect()\n"}});
}

void PythonWork(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  if (step_ns == 0 || ShareOutsideOfPhases(run) < kOwnPython) return;
  const OwnPython& python = run.loop_work.python;
  const bool has_gpu = run.gpu.MainBreakdown() != nullptr;
  const double own_ns = python.per_step_ns - CollectionsOf(run).per_step_ns;
  // A GPU that works meanwhile hides it.
  const double exposed_ns =
      has_gpu ? std::min(own_ns, GpuPartNs(run, GpuPart::kIdlePython)) : own_ns;
  if (exposed_ns < kOwnPython * step_ns || python.places.empty()) return;
  const std::string share = PercentOf(exposed_ns / step_ns);
  const std::string names = RangeNames(python);
  const std::string where =
      names.empty() ? "most of it " + python.places.front().name : "in " + names;
  findings->push_back(
      {.title = names.empty() ? share + " of a step is your own Python"
                              : names + ": " + share + " of a step is your own Python",
       .seen = "For " + TimeOf(exposed_ns) + " of a step (" + share +
               ") the loop runs Python that calls no operator" +
               (has_gpu ? " and the GPU idles" : "") + ", " + where + ".",
       .why = "Python works on one value at a time, and nothing else goes on meanwhile.",
       .action =
           std::string("Do it once before the loop and keep the result, do it for a whole batch "
                       "with tensors or NumPy, or move it into the DataLoader's workers.") +
           (names.empty() ? " Ranges show which function it is: with "
                            "batchlight.annotate(\"name\"):, or --python-functions-trace."
                          : ""),
       .gain_ns = exposed_ns * kOwnPythonGain,
       .uncertainty_ns = exposed_ns * kOwnPythonUncertainty,
       .evidence = EvidenceOf(python.places, "place")});
}

void UnfusedUpdates(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  if (step_ns == 0 || ShareOutsideOfPhases(run) < kLooseShare) return;
  const LooseOperators& loose = run.loop_work.operators;
  if (loose.calls_per_step < kLooseOperators) return;
  const double exposed_ns = loose.per_step_ns * CpuExposure(run);
  if (exposed_ns < kLooseShare * step_ns) return;
  findings->push_back(
      {.title = "Tensors are updated one by one outside of the optimizer",
       .seen = Rounded(loose.calls_per_step) +
               " operators a step that autograd does not follow take " + TimeOf(loose.per_step_ns) +
               " (" + PercentOf(loose.per_step_ns / step_ns) + "), most often " +
               loose.operators.front().name + ".",
       .why =
           "Averages of weights, clipping or statistics that loop over parameters or rows pay for "
           "each small operator; one call for all of them costs as much as a few.",
       .action = "Use what takes all tensors at once: torch._foreach_mul_ and its like, "
                 "torch.nn.utils.clip_grad_norm_, torch.optim.swa_utils.AveragedModel; reduce over "
                 "a dimension instead of looping over rows; or do it every N steps.",
       .gain_ns = exposed_ns * kLooseGain,
       .uncertainty_ns = exposed_ns * kLooseUncertainty,
       .evidence = EvidenceOf(loose.operators, "operator"),
       .patch = {.place = "",
                 .diff = "-for p, q in zip(average.parameters(), model.parameters()):\n"
                         "-    p.mul_(decay).add_(q, alpha=1 - decay)\n"
                         "+torch._foreach_lerp_(list(average.parameters()), "
                         "list(model.parameters()), 1 - decay)\n"}});
}

}  // namespace batchlight::advice
