// What the run spends beside its steps (analysis/stages): validation, work between epochs, set-up,
// preprocessing, imports, the first batch. These are gains of the run, not of a step.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/code_hints.h"
#include "analysis/advice/loading/loader_workers.h"
#include "analysis/advice/loop/stage_calls.h"
#include "analysis/advice/processor_wait.h"
#include "analysis/advice/rules.h"
#include "analysis/lines/code_samples.h"
#include "analysis/numbers/quantile.h"
#include "analysis/numbers/time_span.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/stages/stages.h"
#include "analysis/steps/loop_span.h"
#include "store/interval_index.h"

namespace batchlight::advice {
namespace {

using Stages = std::span<const StageSpan>;

// From the first step on: what comes before it, to compile a graph or to see that all works, comes
// once. Behind the last step the last round's validation follows.
Stages FromLoopOn(const RunMeasures& run) {
  const ProcessStages* stages = run.stages.Main();
  const ProcessSteps* main = run.steps.Main();
  if (stages == nullptr || main == nullptr) return {};
  const int64_t loop_ns = SpanOfLoop(main->steps).whole.start_ns;
  const Stages all = stages->spans;
  const auto first = std::find_if(all.begin(), all.end(),
                                  [&](const StageSpan& span) { return span.start_ns >= loop_ns; });
  return all.subspan(static_cast<size_t>(first - all.begin()));
}

double TotalNs(Stages stages, StageKind kind) {
  int64_t total_ns = 0;
  for (const StageSpan& span : stages) {
    if (span.kind == kind) total_ns += span.duration_ns();
  }
  return double(total_ns);
}

// How often a stage comes, counted by what lies between: training.
uint64_t PassesOf(Stages stages, StageKind kind) {
  uint64_t passes = 0;
  bool inside = false;
  for (const StageSpan& span : stages) {
    if (span.kind == kind && !inside) {
      ++passes;
      inside = true;
    } else if (span.kind == StageKind::kTraining) {
      inside = false;
    }
  }
  return passes;
}

// How many times less often a stage may come to take a tenth of training, at most once in the run;
// below 2: it needs no change.
uint64_t TimesLess(double stage_ns, double training_ns, uint64_t passes) {
  if (training_ns <= 0) return 1;
  const auto wanted = static_cast<uint64_t>(std::ceil(stage_ns / (kBesideTraining * training_ns)));
  return std::min(wanted, passes);
}

// Of training: less on stacks is none of the loop's own functions.
constexpr double kOfLoop = 0.05;
constexpr double kCalledForMost = 0.5;

struct Repeated {
  double total_ns = 0;
  uint64_t passes = 0;
  uint64_t times_less = 1;
  double training_ns = 0;
  bool starts_workers = false;  // of a DataLoader
  TimeSpan longest{};           // pass

  double gain_ns() const { return total_ns * (1 - 1 / double(times_less)); }
  double share() const { return total_ns / (total_ns + training_ns); }
};

// Of what lies between epochs or steps, the time in which no operator runs for long: plots,
// statistics and files. Rollouts and the like, which training needs, call the model all the time.
double SilentNs(const RunMeasures& run, Stages stages, StageKind kind) {
  const ProcessSteps* main = run.steps.Main();
  const OperatorCallsTable& calls = run.store->operator_calls;
  if (main == nullptr || main->thread.IsNone()) return TotalNs(stages, kind);
  const ThreadSpans::Rows rows = ThreadSpans(calls.thread).Of(main->thread);
  double silent_ns = 0;
  uint32_t row = rows.begin;
  for (const StageSpan& stage : stages) {
    if (stage.kind != kind) continue;
    std::vector<TimeSpan> busy;
    while (row < rows.end && calls.start_ns[row] < stage.start_ns) ++row;
    for (; row < rows.end && calls.start_ns[row] < stage.end_ns; ++row) {
      AddSpan(busy, calls.start_ns[row], calls.end_ns[row]);
    }
    VisitGaps(busy, stage.start_ns, stage.end_ns, [&](int64_t from_ns, int64_t to_ns) {
      const double gap_ns = double(to_ns - from_ns);
      if (gap_ns >= kSilence * double(stage.duration_ns())) silent_ns += gap_ns;
    });
  }
  return silent_ns;
}

// Starts of a loader's workers inside of a stage: another finding's, dataloader-restart.
double WorkerStartsNs(const RunMeasures& run, Stages stages, StageKind kind) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->thread.IsNone()) return 0;
  double total_ns = 0;
  for (const WorkerStart& start : FindWorkerStarts(*run.store, *main)) {
    for (const StageSpan& span : stages) {
      if (span.kind != kind || start.at_ns < span.start_ns || start.at_ns >= span.end_ns) continue;
      total_ns += double(std::min(start.took_ns, span.end_ns - start.at_ns));
    }
  }
  return total_ns;
}

Repeated RepeatedStage(const RunMeasures& run, StageKind kind) {
  Repeated repeated;
  const Stages stages = FromLoopOn(run);
  if (stages.empty()) return repeated;
  const double workers_ns = WorkerStartsNs(run, stages, kind);
  repeated.starts_workers = workers_ns > 0;
  repeated.total_ns =
      IsBetween(kind) ? SilentNs(run, stages, kind) : TotalNs(stages, kind) - workers_ns;
  repeated.training_ns = TotalNs(stages, StageKind::kTraining);
  repeated.longest = LongestOf(SpansOf({stages.begin(), stages.end()}, kind));
  repeated.passes = PassesOf(stages, kind);
  repeated.times_less = TimesLess(repeated.total_ns, repeated.training_ns, repeated.passes);
  return repeated;
}

std::string CountText(uint64_t count, const char* noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

// "second", "3rd", "11th"
std::string Ordinal(uint64_t number) {
  if (number == 2) return "second";
  const uint64_t last = number / 10 % 10 == 1 ? 0 : number % 10;
  const char* ending = last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return std::to_string(number) + ending;
}

// A stage that could come less often: what differs from rule to rule.
struct RepeatedText {
  std::string title, seen, why, action;
  std::string_view stage;
  Patch patch;
};

std::string Times(uint64_t times_less) { return std::to_string(times_less); }

// `call` in a loop of the program's own.
Patch LessOften(uint64_t times_less, const std::string& call) {
  return {.place = "",
          .diff = "-" + call + "\n+if (epoch + 1) % " + Times(times_less) +
                  " == 0 or epoch + 1 == epochs:\n+    " + call + "\n"};
}

// "evaluate" of "Trainer.evaluate", as a call of it begins.
std::string NameIn(const SampledFunction& called) {
  return called.function.substr(called.function.rfind('.') + 1);
}

Patch ValidateLessOften(const RunMeasures& run, uint64_t times_less,
                        const std::vector<SampledFunction>& called) {
  switch (OwnerOfLoop(run)) {
    case LoopOwner::kTransformers:
      return {.place = "",
              .diff = "-TrainingArguments(eval_steps=n)\n+TrainingArguments(eval_steps=" +
                      Times(times_less) + " * n)\n"};
    case LoopOwner::kLightning:
      return {.place = "",
              .diff = "-Trainer()\n+Trainer(check_val_every_n_epoch=" + Times(times_less) +
                      ")  # or val_check_interval, as many times as much\n"};
    case LoopOwner::kProgram:
      break;
  }
  if (called.empty()) return LessOften(times_less, "validate(model, validation_loader)");
  return LessOften(times_less, NameIn(called.front()) + "(...)");
}

bool CouldComeLessOften(const Repeated& stage, double from_share) {
  return stage.times_less >= 2 && stage.share() >= from_share;
}

void AddRepeated(const Repeated& stage, RepeatedText text, Findings* findings) {
  findings->push_back({.title = std::move(text.title),
                       .seen = std::move(text.seen),
                       .why = std::move(text.why),
                       .action = std::move(text.action),
                       .evidence = {{.kind = "stage",
                                     .name = std::string(text.stage),
                                     .count = stage.passes,
                                     .longest = stage.longest}},
                       .run_gain_ns = stage.gain_ns(),
                       .run_uncertainty_ns = stage.gain_ns() * kRepeatedUncertainty,
                       .patch = std::move(text.patch)});
}

// What a run pays once: what differs from rule to rule.
struct OnceText {
  std::string title, seen, why, action;
  Evidence evidence;
  std::string diff;
};

// The stages of a training process that has a loop; else nullptr.
const ProcessStages* StagesOfLoop(const RunMeasures& run) {
  return run.steps.Main() == nullptr ? nullptr : run.stages.Main();
}

// Asked before the finding is put into words, which looks at samples.
bool IsWorthAWord(const RunMeasures& run, double once_ns) {
  const double least_share = once_ns >= kOnceLongNs ? kOnceLongShare : kOnceShare;
  return once_ns >= kOnceNs && once_ns >= least_share * RunWallNs(run);
}

void AddOnce(double once_ns, OnceText text, Findings* findings) {
  findings->push_back({.title = std::move(text.title),
                       .seen = std::move(text.seen),
                       .why = std::move(text.why),
                       .action = std::move(text.action),
                       .evidence = {std::move(text.evidence)},
                       .run_gain_ns = once_ns * kOnceGain,
                       .run_uncertainty_ns = once_ns * kOnceUncertainty,
                       .kind = FindingKind::kOnce,
                       .patch = {.place = "", .diff = std::move(text.diff)}});
}

// The functions that the loop calls for most of the stage, which are on no stack of training: one,
// or as few as make most of it together.
std::vector<SampledFunction> CalledForStage(const RunMeasures& run, StageKind kind) {
  constexpr size_t kMostCalled = 3;
  const ProcessStages* stages = run.stages.Main();
  const ProcessSteps* main = run.steps.Main();
  if (stages == nullptr || main == nullptr || main->thread.IsNone()) return {};
  const CodeSamples samples(*run.store);
  if (samples.empty()) return {};
  const std::vector<TimeSpan> training = SpansOf(stages->spans, StageKind::kTraining);
  const auto loop = samples.OftenOnStacks(main->thread, training, kOfLoop);
  SampledTime called = samples.CalledFrom(loop, main->thread, SpansOf(stages->spans, kind));
  int64_t together_ns = 0;
  for (size_t i = 0; i < std::min(called.functions.size(), kMostCalled); ++i) {
    together_ns += called.functions[i].ns;
    if (double(together_ns) < kCalledForMost * double(called.all_ns)) continue;
    called.functions.resize(i + 1);
    return std::move(called.functions);
  }
  return {};
}

// "`a` (train.py:4), `b` (train.py:9) and `c` (train.py:12): "; "" of none.
std::string NamesBefore(const RunMeasures& run, const std::vector<SampledFunction>& called) {
  std::string names;
  for (size_t i = 0; i < called.size(); ++i) {
    names += i == 0 ? "" : i + 1 < called.size() ? ", " : " and ";
    names += FunctionText(*run.store, called[i]);
  }
  return names.empty() ? "" : names + ": ";
}

}  // namespace

StageCode CodeOfStage(const RunMeasures& run, StageKind kind) {
  const ProcessStages* stages = run.stages.Main();
  const ProcessSteps* main = run.steps.Main();
  if (stages == nullptr || main == nullptr || main->thread.IsNone()) return {};
  const CodeSamples samples(*run.store);
  if (samples.empty()) return {};
  const SampledTime time = samples.During(main->thread, SpansOf(stages->spans, kind));
  StageCode code{.seen = "", .hint = HintFor(*run.store, time).text};
  const std::string names = FunctionTexts(*run.store, time);
  const std::string called = CalledText(*run.store, time);
  if (!names.empty()) {
    code.seen =
        " Most of it is in " + names + (called.empty() ? "" : ", much of that in " + called) + ".";
  }
  return code;
}

namespace {

// " Trainer: ..." where it brings the outputs of all batches to the host.
std::string KeepOutputsText(const std::string& code) {
  constexpr std::string_view kToHost[] = {"`nested_numpify`", "`numpy_pad_and_concatenate`",
                                          "`nested_concat`"};
  const bool to_host = std::any_of(std::begin(kToHost), std::end(kToHost), [&](const auto& name) {
    return code.find(name) != std::string::npos;
  });
  return to_host ? "Trainer(preprocess_logits_for_metrics=...): reduce the logits on the device "
                   "(argmax) "
                   "instead of bringing all of them to the host; or batch_eval_metrics=True. "
                 : "";
}

// How the model is asked in validations.
struct Asked {
  std::string seen, action;
};

Asked HowAsked(const RunMeasures& run, uint64_t passes) {
  const StageCalls calls = CallsInStage(run, StageKind::kValidation);
  Asked asked;
  if (calls.model_calls == 0) return asked;
  asked.seen = " They call the model " + std::to_string(calls.model_calls) + " times, for " +
               TimeOf(double(calls.module_ns) / double(calls.model_calls)) + " each.";
  if (calls.followed > 0 &&
      double(calls.followed) >= kFollowedInValidation * double(calls.operators)) {
    asked.seen += " Autograd follows them.";
    asked.action =
        "Put it under torch.no_grad() or torch.inference_mode(): autograd keeps what only a "
        "backward needs. ";
  }
  // Whose answer is read each time: steps that feed on each other's output make no larger batch.
  const bool is_read = calls.scalars_read >= calls.model_calls;
  // On processors that others take, each operator is longer than it is.
  const double operator_ns = double(calls.operator_ns) /
                             double(std::max<uint64_t>(1, calls.operators)) *
                             (1 - ProcessorWait(run));
  const bool is_small = is_read && run.gpu.empty() && operator_ns < kSmallOperatorNs;
  if (is_small && double(calls.model_calls) >= kManyCallsOfValidation * double(passes)) {
    asked.action +=
        "A call of so small a model takes about as long for many samples as for few: ask for many "
        "at once (a larger batch, all environments or all beams together). ";
  }
  return asked;
}

}  // namespace

void ValidationCost(const RunMeasures& run, Findings* findings) {
  const Repeated validation = RepeatedStage(run, StageKind::kValidation);
  if (!CouldComeLessOften(validation, kRepeatedShare)) return;
  const std::vector<SampledFunction> called = CalledForStage(run, StageKind::kValidation);
  const StageCode code = CodeOfStage(run, StageKind::kValidation);
  const Asked asked = HowAsked(run, validation.passes);
  AddRepeated(
      validation,
      {.title =
           (called.empty() ? "Validation takes " : NamesBefore(run, called) + "validation takes ") +
           (validation.total_ns > validation.training_ns
                ? "longer than training"
                : PercentOf(validation.share()) + " of training and validation"),
       .seen = CountText(validation.passes, "validation") + " took " + TimeOf(validation.total_ns) +
               " together, training " + TimeOf(validation.training_ns) + "." + code.seen +
               asked.seen,
       .why = "No step trains meanwhile, and one validation says little more than the one before.",
       .action = KeepOutputsText(code.seen) + code.hint + asked.action + "Validate every " +
                 Ordinal(validation.times_less) +
                 " time, or on a part of the data; its batches, which need no gradients "
                 "(torch.no_grad), may be two to four times as large" +
                 (validation.starts_workers
                      ? "; keep the workers of its DataLoader (persistent_workers=True)."
                      : "."),
       .stage = "validation",
       .patch = ValidateLessOften(run, validation.times_less, called)},
      findings);
}

namespace {

void JudgeBetween(const RunMeasures& run, StageKind kind, Findings* findings) {
  const Repeated between = RepeatedStage(run, kind);
  if (!CouldComeLessOften(between, kBetweenShare)) return;
  const std::vector<SampledFunction> called = CalledForStage(run, kind);
  const StageCode code = CodeOfStage(run, kind);
  AddRepeated(
      between,
      {.title =
           (called.empty() ? "The program works " + PercentOf(between.share()) + " of its"
                           : NamesBefore(run, called) + PercentOf(between.share()) + " of the") +
           " loop beside its steps",
       .seen = CountText(between.passes, "time") + " between steps it worked " +
               TimeOf(between.total_ns) +
               " together that is neither training, validation nor a checkpoint; training took " +
               TimeOf(between.training_ns) + "." + code.seen,
       .why = "No step trains meanwhile: plots, reports, statistics or files again and again.",
       .action =
           code.hint +
           std::string(called.empty() ? "Do it every "
                                      : "Make it cheaper (whole arrays instead of one value at a "
                                        "time), or do it every ") +
           Ordinal(between.times_less) + " time or once at the end, or in a process of its own.",
       .stage = StageKindName(kind),
       .patch = OwnerOfLoop(run) == LoopOwner::kProgram && code.hint.empty()  // else that is first
                    ? LessOften(between.times_less,
                                called.empty() ? "plot(history)" : NameIn(called.front()) + "(...)")
                    : Patch{}},
      findings);
}

}  // namespace

void BetweenEpochs(const RunMeasures& run, Findings* findings) {
  JudgeBetween(run, StageKind::kBetweenEpochs, findings);
  JudgeBetween(run, StageKind::kBetweenSteps, findings);
}

namespace {

// Of the start-up, beside imports: calls of modules and backwards of a program that compiles before
// its first step. They wait for compilers, in this thread and in others, for longer than what is
// told as compilation: no file keeps that.
double WarmingUpNs(const RunMeasures& run, const ProcessStages& stages) {
  const ProcessSteps* main = run.steps.Main();
  const ModuleCallsTable& calls = run.store->module_calls;
  const std::vector<TimeSpan> compiled = SpansOf(stages.spans, StageKind::kCompile);
  const std::vector<TimeSpan> start_up = SpansOf(stages.spans, StageKind::kStartUp);
  if (main == nullptr || main->thread.IsNone() || start_up.empty()) return 0;
  if (compiled.empty() || compiled.front().start_ns > start_up.back().end_ns) return 0;
  std::vector<TimeSpan> model;
  const ThreadSpans::Rows rows = ThreadSpans(calls.thread).Of(main->thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    if (calls.start_ns[row] >= start_up.back().end_ns) break;
    model.push_back({calls.start_ns[row], calls.end_ns[row]});
  }
  for (const PhaseMark& mark : run.inputs->marks.Outermost(main->thread, PhaseKind::kBackward)) {
    model.push_back({mark.start_ns, mark.end_ns});
  }
  std::vector<TimeSpan> imports;
  const PhaseCallsTable& phases = run.store->phase_calls;
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != Phase::kImport || phases.thread[row] != main->thread) continue;
    imports.push_back({phases.start_ns[row], phases.end_ns[row]});
  }
  const auto is_open = [](const TimeSpan& span) { return span.end_ns == kOpenEnd; };
  std::erase_if(model, is_open);
  std::erase_if(imports, is_open);
  const std::vector<TimeSpan> imported = UnionOf(std::move(imports));
  double total_ns = 0;
  for (const TimeSpan& span : UnionOf(std::move(model))) {
    VisitGaps(imported, span.start_ns, span.end_ns, [&](int64_t from_ns, int64_t to_ns) {
      total_ns += double(NsInside(start_up, from_ns, to_ns));
    });
  }
  return total_ns;
}

}  // namespace

void SetUpCost(const RunMeasures& run, Findings* findings) {
  const ProcessStages* stages = StagesOfLoop(run);
  if (stages == nullptr || !IsWorthAWord(run, double(stages->start_up.set_up_ns))) return;
  const double set_up_ns = double(stages->start_up.set_up_ns) - WarmingUpNs(run, *stages);
  if (!IsWorthAWord(run, set_up_ns)) return;
  AddOnce(
      set_up_ns,
      {.title = "Setting up takes " + PercentOf(set_up_ns / RunWallNs(run)) + " of the run",
       .seen = "Between its imports and its first step the program worked " + TimeOf(set_up_ns) +
               ": on the model, the data or neither." + CodeOfStage(run, StageKind::kStartUp).seen,
       .why = "Every start of the program does that again.",
       .action = "Keep the result in a file (vocabularies, indexes, parsed or tokenized data: "
                 "pickle, numpy.save, torch.save) and read it in the next run.",
       .evidence = {.kind = "stage",
                    .name = "set-up",
                    .longest = LongestOf(SpansOf(stages->spans, StageKind::kStartUp))},
       .diff = "-data = build()\n"
               "+if not os.path.exists(cache):\n"
               "+    torch.save(build(), cache)\n"
               "+data = torch.load(cache)\n"},
      findings);
}

void PreprocessingCost(const RunMeasures& run, Findings* findings) {
  const ProcessStages* stages = StagesOfLoop(run);
  if (stages == nullptr) return;
  const double took_ns = TotalNs(stages->spans, StageKind::kPreprocessing);
  if (!IsWorthAWord(run, took_ns)) return;
  AddOnce(took_ns,
          {.title = "Preprocessing takes " + PercentOf(took_ns / RunWallNs(run)) + " of the run",
           .seen = "Before its loop the program prepared its data for " + TimeOf(took_ns) + "." +
                   CodeOfStage(run, StageKind::kPreprocessing).seen,
           .why = "Every start of the program does that again, with the same result.",
           .action = "Keep the result in a file (numpy.save, torch.save, datasets' cache) and read "
                     "it in the next run; or prepare samples in the DataLoader's workers, beside "
                     "training.",
           .evidence = {.kind = "stage",
                        .name = "preprocessing",
                        .longest = LongestOf(SpansOf(stages->spans, StageKind::kPreprocessing))},
           .diff = "-features = prepare(samples)\n"
                   "+if not os.path.exists(\"features.npy\"):\n"
                   "+    numpy.save(\"features.npy\", prepare(samples))\n"
                   "+features = numpy.load(\"features.npy\")\n"},
          findings);
}

// What of it could go is not in a recording: what a program imports, it may need.
void StartUpDominates(const RunMeasures& run, Findings* findings) {
  const ProcessStages* stages = StagesOfLoop(run);
  if (stages == nullptr) return;
  const StartUpParts& parts = stages->start_up;
  const double wall_ns = RunWallNs(run);
  // Nobody can leave out PyTorch, or the GPU's context.
  const double other_ns = double(parts.imports_ns - parts.pytorch_imports_ns);
  if (wall_ns < kShortRunNs || other_ns < kStartUpShare * wall_ns) return;
  findings->push_back(
      {.title = "Imports beside PyTorch take " + PercentOf(other_ns / wall_ns) + " of the run",
       .seen = "Imports take " + TimeOf(double(parts.imports_ns)) + ", PyTorch " +
               TimeOf(double(parts.pytorch_imports_ns)) +
               " of it; the largest stand under the stages.",
       .why = "It is paid again for every run, however short.",
       .action = "Do several runs in one process, or import what only some runs "
                 "need where they need it.",
       .kind = FindingKind::kSymptom});
}

namespace {

// What spawned workers do before the first batch, if most of its wait may be theirs; "": they are
// not, or do little.
std::string SpawnedFor(const RunMeasures& run, const ProcessSteps& main, TimeSpan first) {
  const SpawnedWorkers spawned = FindSpawnedWorkers(*run.store, main.process);
  const bool is_most = spawned.imports_ns >= kCalledForMost * double(first.end_ns - first.start_ns);
  return is_most ? spawned.Sentence() : "";
}

}  // namespace

void FirstBatch(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->thread.IsNone()) return;
  const PhaseCallsTable& phases = run.store->phase_calls;
  std::vector<int64_t> took_ns;
  TimeSpan first;
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] == Phase::kDataLoaderNext && phases.thread[row] == main->thread &&
        phases.end_ns[row] != kOpenEnd) {
      if (took_ns.empty()) first = {phases.start_ns[row], phases.end_ns[row]};
      took_ns.push_back(phases.end_ns[row] - phases.start_ns[row]);
    }
  }
  if (took_ns.size() < 2) return;
  const double first_ns = double(took_ns.front());
  took_ns.erase(took_ns.begin());
  const double later_ns = double(LowerQuantile(took_ns, 0.5));
  if (!IsWorthAWord(run, first_ns - later_ns)) return;
  const std::string spawned = SpawnedFor(run, *main, first);
  AddOnce(
      first_ns - later_ns,
      {.title = "The first batch takes " + TimeOf(first_ns),
       .seen = "A later batch takes " + TimeOf(later_ns) + "." + spawned,
       .why =
           spawned.empty()
               ? "The data set opens or indexes its files when the first sample is asked for, or "
                 "the workers start."
               : "The loop waits until a worker has started and made the first batch.",
       .action = spawned.empty()
                     ? "Keep the index in a file; start the workers before the model is made "
                       "(iter(loader)); fork instead of spawn where it is safe."
                     : CheaperStartOfWorkers() +
                           " Or start them before the model is made (iter(loader)).",
       .evidence = {.kind = "call", .name = "DataLoader.__next__", .count = 1, .longest = first},
       .diff = ""},
      findings);
}

}  // namespace batchlight::advice
