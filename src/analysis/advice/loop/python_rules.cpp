// What the loop does beside forward, backward, optimizer and loading (breakdown/loop_work.h).
#include <algorithm>
#include <map>
#include <utility>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/code_hints.h"
#include "analysis/advice/processor_wait.h"
#include "analysis/advice/rules.h"
#include "analysis/advice/sampled_callers.h"
#include "analysis/lines/call_lines.h"
#include "analysis/lines/code_samples.h"
#include "analysis/lines/source_place.h"
#include "analysis/lines/stack_lines.h"
#include "analysis/os/lock_waits.h"

namespace batchlight::advice {
namespace {

constexpr size_t kMostNames = 3;

double ShareOutsideOfPhases(const RunMeasures& run) {
  return PhaseShareOf(run, PhaseKind::kOther) + PhaseShareOf(run, PhaseKind::kUserRange);
}

// Without what gpu-held-back and pageable-copy say of it.
double GpuIdlePythonNs(const RunMeasures& run) {
  return OutsideIdleNs(run) - HeldOutsideIdleNs(run) - FreedBatchesNs(run);
}

std::vector<Evidence> EvidenceOf(const std::vector<WorkPlace>& places, std::string_view kind) {
  std::vector<Evidence> evidence;
  for (const WorkPlace& place : places) {
    if (evidence.size() >= 5) break;
    evidence.push_back({.kind = place.is_range ? "range" : std::string(kind),
                        .name = place.name,
                        .count = place.count,
                        .per_step_ns = place.per_step_ns,
                        .longest = place.longest});
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

// Functions where they were sampled, else places.
std::vector<Evidence> PythonEvidence(const Store& store, const SampledTime& sampled,
                                     double per_step_ns, const std::vector<WorkPlace>& places) {
  std::vector<Evidence> evidence = EvidenceOf(places, "place");
  for (size_t i = 0; i < std::min(kNamedFunctions, sampled.functions.size()); ++i) {
    const double share =
        double(sampled.functions[i].ns) / double(std::max<int64_t>(1, sampled.all_ns));
    evidence.push_back({.kind = "function",
                        .name = FunctionText(store, sampled.functions[i]),
                        .per_step_ns = share * per_step_ns,
                        .event = EventOfFunction(sampled.functions[i].function),
                        .longest = sampled.functions[i].longest});
  }
  return evidence;
}

// Of the time in which it had a processor, or needed none, the part in which it ran or waited for
// the GIL. Where looks do not tell when it had none, for as long as the loop does.
double PartAtWork(const SampledTime& open, double processor_wait) {
  const double all_ns = double(open.all_ns);
  const double kept_ns =
      open.times.ready_ns > 0 ? double(open.times.ready_ns) : processor_wait * all_ns;
  return all_ns - kept_ns <= 0 ? 1
                               : double(open.times.ran_ns + open.times.gil_ns) / (all_ns - kept_ns);
}

// Whether the loop mostly waited meanwhile, for a lock or another thread: it then ran for far less
// of the time than in the whole loop.
bool OnlyWaits(const SampledTime& open, const SampledTime& whole) {
  if (open.all_ns == 0 || whole.all_ns == 0) return false;
  return PartAtWork(open, 0) < kPythonWaits * PartAtWork(whole, 0);
}

// Whether it sleeps, or waits for a lock, a file or the network, for far longer than it runs. What
// other programs take of the time says nothing of that.
bool Sleeps(const SampledTime& open, const SampledTime& whole, double processor_wait) {
  if (open.all_ns == 0 || whole.times.ran_ns == 0) return false;
  const double kept = whole.times.ready_ns > 0 ? 0 : processor_wait;
  return PartAtWork(open, kept) < kPythonWaits;
}

// Parts of `time`; all is work where looks do not tell.
struct PythonParts {
  double ran = 1;     // or waited for the GIL
  double ready = 0;   // no processor
  double waited = 0;  // slept, or waited for something else
};

PythonParts PartsOf(const SampledTime& time, const SampledTime& whole) {
  if (time.all_ns == 0 || whole.times.ran_ns == 0) return {};
  const auto share = [&](int64_t ns) { return double(ns) / double(time.all_ns); };
  const PythonParts parts{.ready = share(time.times.ready_ns),
                          .waited = share(time.times.waited_ns)};
  return {.ran = 1 - parts.ready - parts.waited, .ready = parts.ready, .waited = parts.waited};
}

// "runs there in 4 % of that, waits for a processor in 2 %, for Python's lock in 5 %, sleeps or
// waits for something else in 89 %": without what is less than a hundredth.
std::string HowItRuns(const SampledTime& time) {
  const auto share = [&](int64_t ns) { return double(ns) / double(time.all_ns); };
  std::string text = "runs there in " + PercentOf(share(time.times.ran_ns)) + " of that";
  if (const double ready = share(time.times.ready_ns); ready >= kToldOfLooks) {
    text += ", waits for a processor in " + PercentOf(ready);
  }
  if (const double gil = share(time.times.gil_ns); gil >= kToldOfLooks) {
    text += ", for Python's lock in " + PercentOf(gil);
  }
  if (const double waited = share(time.times.waited_ns); waited >= kToldOfLooks) {
    text += ", sleeps or waits for something else in " + PercentOf(waited);
  }
  return text + '.';
}

constexpr std::string_view kLookWhatItWaitsFor =
    "Look what it waits for. Take away what need not be waited for (a lock, polling with "
    "time.sleep: a queue.Queue or an Event wakes at once), or hand it to another thread or "
    "process.";

struct LockOwner {
  std::string seen;   // " For 30 ms of a step it waits for a lock that thread `metrics` had, ..."
  std::string place;  // "metrics.py:12"
};

// Who had the lock that the loop waits for (-t osrt); empty: nobody that is known, or not for long.
LockOwner FindLockOwner(const RunMeasures& run, double exposed_ns) {
  const Store& store = *run.store;
  const ProcessSteps& main = *run.steps.Main();
  const StackLines lines(store);
  if (store.os_calls.size() == 0 || lines.empty()) return {};
  const auto line_of = [&](PythonStackId stack) { return lines.Of(stack).frame; };
  std::map<std::pair<ThreadId, PythonFrameId>, int64_t> owners;  // and where they were meanwhile
  for (const LockWaits& waits : SumLockWaits(store, PythonStacksOfOsCalls(store), line_of)) {
    if (waits.thread != main.thread || waits.released_by.IsNone()) continue;
    owners[{waits.released_by, waits.their_line}] += waits.total_ns;
  }
  const auto most =
      std::max_element(owners.begin(), owners.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == owners.end()) return {};
  const double waited_ns = double(most->second) / double(main.steps.size());
  if (waited_ns < kLockOwner * exposed_ns) return {};
  const auto& [thread, line] = most->first;
  LockOwner owner{.seen = " For " + TimeOf(waited_ns) +
                          " of a step it waits for a lock that the thread `" +
                          std::string(store.Text(store.threads.name[thread.row()])) + "` (TID " +
                          std::to_string(store.threads.tid[thread.row()]) + ") had"};
  if (!line.IsNone()) {
    const PythonFramesRow frame = store.python_frames.Row(line.row());
    owner.place = std::string(ShortFile(store.Text(frame.file))) + ':' + std::to_string(frame.line);
    owner.seen += ", which was mostly in " + owner.place + " meanwhile";
  }
  owner.seen += '.';
  return owner;
}

// What the machine's other programs take of the time is none of its own.
Finding WaitingPython(const RunMeasures& run, const std::string& names, double exposed_ns) {
  const OwnPython& python = run.loop_work.python;
  const PythonParts parts = PartsOf(python.functions, python.whole);
  const std::string share = PercentOf(exposed_ns / MeanStepNs(run));
  const double own_ns = exposed_ns * (1 - parts.ready);
  const std::string hint = HintFor(*run.store, python.functions).text;
  const LockOwner owner = FindLockOwner(run, exposed_ns);
  const std::string shorter =
      owner.place.empty() ? "" : "Hold the lock for less of the work in " + owner.place + ". ";
  return {.title = names + ": the loop waits there for " +
                   PercentOf(exposed_ns * parts.waited / MeanStepNs(run)) + " of a step",
          .seen = "For " + TimeOf(exposed_ns) + " of a step (" + share + ") the loop is in " +
                  names + ", and " + HowItRuns(python.functions) + owner.seen,
          .why = "Who waits for a lock, a file, the network or a timer does nothing meanwhile.",
          .action = shorter + (hint.empty() ? std::string(kLookWhatItWaitsFor) : hint),
          .gain_ns = own_ns * kOwnPythonGain,
          .uncertainty_ns = own_ns * kOwnPythonUncertainty,
          .evidence = PythonEvidence(*run.store, python.functions, exposed_ns, python.places)};
}

// Of the time of `python`, in which a package runs the loop and the program is not called.
double PartOfPackages(const OwnPython& python) {
  double ns = 0;
  for (const SampledFunction& function : python.of_packages.functions) ns += double(function.ns);
  return python.of_packages.all_ns == 0 ? 0 : ns / double(python.of_packages.all_ns);
}

// A Trainer's own work for each batch: nothing that the program could write otherwise.
Finding PythonOfPackages(const RunMeasures& run, double exposed_ns) {
  const OwnPython& python = run.loop_work.python;
  const Store& store = *run.store;
  const SampledFunction& most = python.of_packages.functions.front();
  const std::string name = FunctionText(store, most);
  const std::string package(InstalledModule(store, store.Text(most.file)));
  const std::string share = PercentOf(exposed_ns / MeanStepNs(run));
  return {.title = name + ": " + share + " of a step is Python of " +
                   (package.empty() ? "what runs the loop" : package),
          .seen = "For " + TimeOf(exposed_ns) + " of a step (" + share +
                  ") the loop runs Python that calls no operator" +
                  (run.gpu.empty() ? "" : " and the GPU idles") +
                  ", in the package that runs it: most often in " + name + ".",
          .why = "It does that for each batch, whatever the program is.",
          .action =
              "Look what it does there: callbacks, loggers and progress bars that can come "
              "every N steps, checks that can be switched off.",
          .gain_ns = exposed_ns * kPackagePythonGain,
          .uncertainty_ns = exposed_ns * kPackagePythonGain,
          .evidence = PythonEvidence(store, python.of_packages, exposed_ns, python.places)};
}

// What a few steps do for long. Said only where samples find it in the program's own functions, at
// work: a machine that is busy with other things makes some steps long as well.
void RarePythonWork(const RunMeasures& run, Findings* findings) {
  const OwnPython& python = run.loop_work.python;
  const RarePython& rare = python.rare;
  const double step_ns = MeanStepNs(run);
  const bool has_gpu = run.gpu.MainBreakdown() != nullptr;
  const double exposed_ns =
      has_gpu ? std::min(rare.per_step_ns, GpuIdlePythonNs(run)) : rare.per_step_ns;
  if (double(rare.steps) < kFewestRareSteps || exposed_ns < kOwnPython * step_ns) return;
  const std::string names = FunctionTexts(*run.store, rare.functions);
  if (names.empty() || OnlyWaits(rare.functions, python.whole)) return;
  const std::string share = PercentOf(exposed_ns / step_ns);
  const std::string steps = std::to_string(rare.steps) + " of " +
                            std::to_string(run.steps.Main()->steady.size()) + " steps";
  const std::string hint = HintFor(*run.store, rare.functions).text;
  const double each_ns = exposed_ns * double(run.steps.Main()->steady.size()) / double(rare.steps);
  findings->push_back(
      {.title = names + ": " + share + " of the mean step, in " + steps,
       .seen = "In " + steps + " the loop runs Python that calls no operator for " +
               TimeOf(each_ns) + " each" + (has_gpu ? " while the GPU idles" : "") + ", in " +
               names + "; the median step does without.",
       .why = "No step trains meanwhile.",
       .action = !hint.empty() ? hint
                 : Sleeps(rare.functions, python.whole, ProcessorWait(run))
                     ? std::string(kLookWhatItWaitsFor)
                     : "Do it in fewer steps, make it cheaper, or hand what it needs to another "
                       "process.",
       .gain_ns = exposed_ns * kRarePythonGain,
       .uncertainty_ns = exposed_ns * kOwnPythonUncertainty,
       .evidence = PythonEvidence(*run.store, rare.functions, exposed_ns, {})});
}

}  // namespace

double OwnPythonNs(const RunMeasures& run) {
  const double step_ns = MeanStepNs(run);
  if (step_ns == 0 || ShareOutsideOfPhases(run) < kOwnPython) return 0;
  const OwnPython& python = run.loop_work.python;
  // By the median of its share of each step it can be more than the mean step has beside its
  // phases.
  const double outside_ns =
      std::min(python.per_step_ns, ShareOutsideOfPhases(run) * step_ns) - FreedBatchesNs(run);
  // A GPU that works meanwhile hides it.
  const bool has_gpu = run.gpu.MainBreakdown() != nullptr;
  const double exposed_ns = has_gpu ? std::min(outside_ns, GpuIdlePythonNs(run)) : outside_ns;
  return exposed_ns < kOwnPython * step_ns || python.places.empty() ? 0 : exposed_ns;
}

double OwnCpuTensorsNs(const RunMeasures& run) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  const OwnPython& python = run.loop_work.python;
  if (gpu == nullptr || OwnPythonNs(run) == 0 || !RangeNames(python).empty()) return 0;
  if (OnlyWaits(python.functions, python.whole)) return 0;
  if (Sleeps(python.functions, python.whole, ProcessorWait(run))) return 0;
  const std::vector<SampledFunction>& own = python.functions.functions;
  const auto named_end = own.begin() + ptrdiff_t(std::min(kNamedFunctions, own.size()));
  const SampledTime& tensors = gpu->idle_cpu_tensors;
  double named_ns = 0;
  for (const SampledFunction& function : tensors.functions) {
    const bool is_named = std::any_of(own.begin(), named_end, [&](const SampledFunction& one) {
      return one.file == function.file && one.function == function.function;
    });
    if (is_named) named_ns += double(function.ns);
  }
  if (named_ns == 0) return 0;
  const double idle_ns = GpuPartNs(run, GpuPart::kIdleCpuTensors);
  return std::min(idle_ns * named_ns / double(tensors.all_ns),
                  idle_ns - HeldIdleNs(run, GpuPart::kIdleCpuTensors));
}

namespace {

// The GPU's wait, or time of the loop, that many small operators beside the model cost a step;
// 0: they are few, or take little.
double SmallOperatorsNs(const RunMeasures& run) {
  const double step_ns = MeanStepNs(run);
  if (step_ns == 0 || ShareOutsideOfPhases(run) < kLooseShare) return 0;
  const LooseOperators& loose = run.loop_work.operators;
  if (loose.calls_per_step < kLooseOperators) return 0;
  double exposed_ns = loose.per_step_ns * CpuExposure(run);
  if (const HoldingFunction* held = HolderOfGpu(run)) {
    exposed_ns = std::max(0.0, exposed_ns - held->AllIdleNs());
  }
  return exposed_ns < kLooseShare * step_ns ? 0 : exposed_ns;
}

// The function that most of the time is in; nullptr: there is none.
const SampledFunction* MostlyIn(const SampledTime& sampled) {
  const SampledFunction* first = sampled.functions.empty() ? nullptr : &sampled.functions.front();
  return first == nullptr || 2 * first->ns < sampled.all_ns ? nullptr : first;
}

// The program's own Python that goes with these operators: of a function that takes value after
// value, both are one loop.
double PythonOfSmallOperatorsNs(const RunMeasures& run) {
  const OwnPython& python = run.loop_work.python;
  const SampledFunction* own = MostlyIn(python.functions);
  const SampledFunction* calls = MostlyIn(run.loop_work.operators.functions);
  if (own == nullptr || calls == nullptr || SmallOperatorsNs(run) == 0) return 0;
  if (own->file != calls->file || own->function != calls->function) return 0;
  return Sleeps(python.functions, python.whole, ProcessorWait(run)) ? 0 : OwnPythonNs(run);
}

}  // namespace

void PythonWork(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  if (step_ns == 0 || ShareOutsideOfPhases(run) < kOwnPython) return;
  const OwnPython& python = run.loop_work.python;
  const bool has_gpu = run.gpu.MainBreakdown() != nullptr;
  const double python_ns = OwnPythonNs(run);
  if (python_ns == 0) return RarePythonWork(run, findings);
  if (PythonOfSmallOperatorsNs(run) > 0) return;  // unfused-updates has it
  std::string names = RangeNames(python);
  if (names.empty()) names = FunctionTexts(*run.store, python.functions);
  const bool of_packages = PartOfPackages(python) >= kMostOfPackages;
  // A rank may wait for the others, a package for what it is meant to wait for.
  const bool not_told = names.empty() || of_packages || run.steps.processes.size() > 1;
  if (not_told && OnlyWaits(python.functions, python.whole)) return;
  if (of_packages) {
    findings->push_back(PythonOfPackages(run, python_ns));
    return;
  }
  const double tensors_ns = OwnCpuTensorsNs(run);
  const double exposed_ns = python_ns + tensors_ns;
  if (!names.empty() && Sleeps(python.functions, python.whole, ProcessorWait(run))) {
    findings->push_back(WaitingPython(run, names, exposed_ns));
    return;
  }
  const PythonParts parts = PartsOf(python.functions, python.whole);
  const bool kept = parts.ready + parts.waited >= kToldOfLooks;
  const double own_ns = python_ns * (1 - parts.ready) + tensors_ns;
  const std::string share = PercentOf((python_ns * parts.ran + tensors_ns) / step_ns);
  const std::string where =
      names.empty() ? "most of it " + python.places.front().name : "in " + names;
  findings->push_back(
      {.title = names.empty() ? share + " of a step is your own Python"
                              : names + ": " + share + " of a step is your own Python",
       .seen =
           "For " + TimeOf(exposed_ns) + " of a step (" + PercentOf(exposed_ns / step_ns) +
           ") the loop " + (kept ? "is in" : "runs") + " Python that calls no operator" +
           (tensors_ns > 0 ? ", or operators on tensors of the CPU (" + TimeOf(tensors_ns) + "),"
                           : "") +
           (has_gpu ? " and the GPU idles" : "") + ", " + where +
           (kept ? ", and " + HowItRuns(python.functions) : "."),
       .why = "Python works on one value at a time, and nothing else goes on meanwhile.",
       .action = HintFor(*run.store, python.functions).text +
                 std::string(
                     PhaseShareOf(run, PhaseKind::kDataLoading) > 0
                         ? "Do it once before the loop and keep the result, do it for a whole "
                           "batch with tensors or NumPy, or move it into the DataLoader's workers."
                         : "Do it once before the loop and keep the result, in fewer steps, or "
                           "for a whole batch with tensors or NumPy.") +
                 (names.empty() ? " Ranges show which function it is: with "
                                  "batchlight.annotate(\"name\"):, or --python-functions-trace."
                                : ""),
       .gain_ns = own_ns * kOwnPythonGain,
       .uncertainty_ns = own_ns * kOwnPythonUncertainty,
       .evidence =
           PythonEvidence(*run.store, python.functions, python.per_step_ns, python.places)});
}

namespace {

bool IsDeepCopy(const Store& store, const PythonFramesRow& frame) {
  const std::string_view file = store.Text(frame.file);
  return store.Text(frame.function) == "deepcopy" && ShortFile(file) == "copy.py" &&
         OwnerOfSource(store, file) == SourceOwner::kPython;
}

}  // namespace

void DeepCopied(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || main->thread.IsNone() || main->steady.empty() || step_ns <= 0) return;
  if (run.store->python_samples.size() == 0) return;
  const SampledTime copies = CallersOf(IsDeepCopy, *run.store).In(*main);
  const double copied_ns = double(copies.all_ns) / double(main->steady.size());
  const double exposed_ns = copied_ns * CpuExposure(run);
  if (copies.functions.empty() || exposed_ns < kDeepCopy * step_ns) return;
  const std::string name = FunctionText(*run.store, copies.functions.front());
  const std::string share = PercentOf(copied_ns / step_ns);
  findings->push_back(
      {.title = name + ": copy.deepcopy takes " + share + " of a step",
       .seen = "Samples of Python find the step in copy.deepcopy for " + TimeOf(copied_ns) +
               " of it (" + share + "), most often called by " + name + ".",
       .why =
           "It walks through all that an object holds, in Python, and makes new tensors for each "
           "old one.",
       .action =
           "Write into tensors that are there (torch._foreach_lerp_, torch._foreach_copy_, "
           "load_state_dict); call a model with other parameters by torch.func.functional_call "
           "instead of copying it; copy before the loop where nothing changes.",
       .gain_ns = exposed_ns * kDeepCopyGain,
       .uncertainty_ns = exposed_ns * kDeepCopyUncertainty,
       .evidence = {{.kind = "function",
                     .name = name,
                     .per_step_ns = copied_ns,
                     .event = EventOfFunction(copies.functions.front().function),
                     .longest = copies.functions.front().longest}},
       .patch = {}});
}

namespace {

// Averages and clipping write in place; loops over values or rows, which have no such call, do not.
bool UpdatesInPlace(const LooseOperators& loose) {
  return loose.operators.front().name.ends_with('_');
}

// Loops that read value by value, by what they call, or more often than a model has parameters.
bool TakesValues(const LooseOperators& loose) {
  constexpr double kMoreThanParameters = 10'000;
  constexpr std::string_view kReads[] = {"aten::select", "aten::item", "aten::_local_scalar_dense",
                                         "aten::unbind"};
  return loose.calls_per_step >= kMoreThanParameters ||
         std::find(std::begin(kReads), std::end(kReads), loose.operators.front().name) !=
             std::end(kReads);
}

constexpr const char* kWholeTensor =
    "Compute with the whole tensor instead of looping over rows or values: reduce over a "
    "dimension, index with a mask or another tensor, count with torch.bincount; what has to be a "
    "loop reads a tensor once (.tolist()). Or do it every N steps (metrics: update them in each, "
    "compute them at the end of an epoch).";
constexpr const char* kAllTensors =
    "For lists of tensors use what takes all of them at once: torch._foreach_mul_ and its like, "
    "torch.nn.utils.clip_grad_norm_, torch.optim.swa_utils.AveragedModel.";

Patch AverageAtOnce() {
  return {.place = "",
          .diff =
              "-for p, q in zip(average.parameters(), model.parameters()):\n"
              "-    p.mul_(decay).add_(q, alpha=1 - decay)\n"
              "+torch._foreach_lerp_(list(average.parameters()), "
              "list(model.parameters()), 1 - decay)\n"};
}

}  // namespace

void UnfusedUpdates(const RunMeasures& run, Findings* findings) {
  const double operators_ns = SmallOperatorsNs(run);
  if (operators_ns == 0) return;
  const LooseOperators& loose = run.loop_work.operators;
  const double python_ns = PythonOfSmallOperatorsNs(run);
  const std::string names =
      FunctionTexts(*run.store, loose.functions, python_ns > 0 ? 1 : kMostNames);
  const std::string share = PercentOf((loose.per_step_ns + python_ns) / MeanStepNs(run));
  findings->push_back(
      {.title = names.empty()    ? "Tensors are updated one by one outside of the optimizer"
                : python_ns == 0 ? names + ": small operators take " + share + " of a step"
                                 : names + ": small operators and the Python between them take " +
                                       share + " of a step",
       .seen = Rounded(loose.calls_per_step) +
               " operators a step that autograd does not follow take " + TimeOf(loose.per_step_ns) +
               ", most often " + loose.operators.front().name +
               (names.empty() ? "" : ", in " + names) +
               (python_ns == 0 ? "." : ", and its own Python " + TimeOf(python_ns) + "."),
       .why =
           "Averages of weights, clipping, metrics or statistics that loop over parameters, rows "
           "or values pay for each small operator; one call for all of them costs as much as a "
           "few.",
       .action = HintFor(*run.store, loose.functions).text +
                 (TakesValues(loose) ? std::string(kWholeTensor) + " " + kAllTensors
                                     : std::string(kAllTensors) + " " + kWholeTensor),
       .gain_ns = operators_ns * kLooseGain + python_ns * kOwnPythonGain,
       .uncertainty_ns = operators_ns * kLooseUncertainty + python_ns * kOwnPythonUncertainty,
       .evidence = EvidenceOf(loose.operators, "operator"),
       .patch = UpdatesInPlace(loose) ? AverageAtOnce() : Patch{}});
}

namespace {

// Reads and computes: what writes into tensors that are kept (averages, gradients), copies and
// norms to clip by has advice of its own, or is needed.
bool ComputesSomethingNew(std::string_view name) {
  return name.starts_with("aten::") && !name.starts_with("aten::_") && !name.ends_with('_') &&
         name != "aten::to" && name != "aten::copy" && name != "aten::linalg_vector_norm";
}

}  // namespace

void WorkBesideTheModel(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  if (step_ns == 0 || !run.gpu.empty() || ShareOutsideOfPhases(run) < kBesideShare) return;
  const LooseOperators& loose = run.loop_work.operators;
  if (loose.calls_per_step >= kLooseOperators) return;
  double work_ns = 0;  // samples are of all: it has to be most of them
  std::vector<WorkPlace> operators;
  std::string texts;
  for (const WorkPlace& place : loose.operators) {
    if (!ComputesSomethingNew(place.name)) continue;
    work_ns += place.per_step_ns;
    if (place.per_step_ns < kBesideNamed * step_ns) continue;
    texts += (texts.empty() ? "`" : ", `") + place.name + "` " + TimeOf(place.per_step_ns);
    operators.push_back(place);
  }
  const std::string names = FunctionTexts(*run.store, loose.functions, 1);
  if (work_ns < kBesideShare * step_ns || work_ns < 0.5 * loose.per_step_ns) return;
  if (operators.empty() || names.empty()) return;
  const std::string share = PercentOf(work_ns / step_ns);
  findings->push_back(
      {.title = names + ": " + share + " of a step is operators beside the model",
       .seen = "Outside of forward, backward and optimizer operators that autograd does not follow "
               "take " +
               TimeOf(work_ns) + " of a step (" + share + "): " + texts + ", most in " + names +
               ".",
       .why = "The model waits meanwhile, and does not learn by it.",
       .action = HintFor(*run.store, loose.functions).text +
                 "Compute what is the same in every step (weights to draw by, tables, masks) once, "
                 "before the loop; draw and prepare for many steps at once or in the DataLoader's "
                 "workers; sum up metrics by less, or every N steps.",
       .gain_ns = work_ns * kBesideGain,
       .uncertainty_ns = work_ns * kBesideUncertainty,
       .evidence = EvidenceOf(operators, "operator")});
}

}  // namespace batchlight::advice
