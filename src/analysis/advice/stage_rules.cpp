// What the run spends beside its steps (analysis/stages): validation, work between epochs, set-up,
// preprocessing, imports, the first batch. These are gains of the run, not of a step.
#include <algorithm>
#include <cmath>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/numbers/quantile.h"
#include "analysis/stages/stages.h"

namespace batchlight::advice {
namespace {

double TotalNs(const ProcessStages& stages, StageKind kind) {
  const StageTotal* total = stages.Of(kind);
  return total == nullptr ? 0 : double(total->total_ns);
}

// How often a stage comes, counted by what lies between: training.
uint64_t PassesOf(const ProcessStages& stages, StageKind kind) {
  uint64_t passes = 0;
  bool inside = false;
  for (const StageSpan& span : stages.spans) {
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

struct Repeated {
  double total_ns = 0;
  uint64_t passes = 0;
  uint64_t times_less = 1;
  double training_ns = 0;

  double gain_ns() const { return total_ns * (1 - 1 / double(times_less)); }
  double share() const { return total_ns / (total_ns + training_ns); }
};

Repeated RepeatedStage(const RunMeasures& run, StageKind kind) {
  Repeated repeated;
  const ProcessStages* stages = run.stages.Main();
  if (stages == nullptr) return repeated;
  repeated.total_ns = TotalNs(*stages, kind);
  repeated.training_ns = TotalNs(*stages, StageKind::kTraining);
  repeated.passes = PassesOf(*stages, kind);
  repeated.times_less = TimesLess(repeated.total_ns, repeated.training_ns, repeated.passes);
  return repeated;
}

std::string CountText(uint64_t count, const char* noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

}  // namespace

void ValidationCost(const RunMeasures& run, Findings* findings) {
  const Repeated validation = RepeatedStage(run, StageKind::kValidation);
  if (validation.times_less < 2 || validation.share() < kRepeatedShare) return;
  findings->push_back(
      {.title = validation.total_ns > validation.training_ns
                    ? "Validation takes longer than training"
                    : "Validation takes " + PercentOf(validation.share()) +
                          " of training and validation",
       .seen = CountText(validation.passes, "validation") + " took " + TimeOf(validation.total_ns) +
               " together, training " + TimeOf(validation.training_ns) + ".",
       .why = "No step trains meanwhile, and one validation says little more than the one before.",
       .action = "Validate every " + std::to_string(validation.times_less) +
                 "th time, or on a part of the data; without gradients (torch.no_grad) its batches "
                 "may be two to four times as large; keep the workers of its DataLoader "
                 "(persistent_workers=True).",
       .evidence = {{.kind = "stage", .name = "validation", .count = validation.passes}},
       .run_gain_ns = validation.gain_ns(),
       .run_uncertainty_ns = validation.gain_ns() * kRepeatedUncertainty,
       .patch = {.place = "",
                 .diff = "-validate(model, validation_loader)\n"
                         "+if (epoch + 1) % " +
                         std::to_string(validation.times_less) +
                         " == 0 or epoch + 1 == epochs:\n"
                         "+    validate(model, validation_loader)\n"}});
}

void BetweenEpochs(const RunMeasures& run, Findings* findings) {
  const Repeated between = RepeatedStage(run, StageKind::kBetweenEpochs);
  if (between.times_less < 2 || between.share() < kRepeatedShare) return;
  findings->push_back(
      {.title = "The program works " + PercentOf(between.share()) + " of its loop between epochs",
       .seen = CountText(between.passes, "time") + " between epochs it worked " +
               TimeOf(between.total_ns) +
               " together that is neither training, validation nor a "
               "checkpoint; training took " +
               TimeOf(between.training_ns) + ".",
       .why = "No step trains meanwhile: plots, reports, statistics or files of every epoch.",
       .action = "Do it every " + std::to_string(between.times_less) +
                 "th epoch or once at the end, or in a process of its own.",
       .evidence = {{.kind = "stage", .name = "between epochs", .count = between.passes}},
       .run_gain_ns = between.gain_ns(),
       .run_uncertainty_ns = between.gain_ns() * kRepeatedUncertainty,
       .patch = {.place = "",
                 .diff = "-plot(history)\n"
                         "+if (epoch + 1) % " +
                         std::to_string(between.times_less) +
                         " == 0 or epoch + 1 == epochs:\n"
                         "+    plot(history)\n"}});
}

void SetUpCost(const RunMeasures& run, Findings* findings) {
  const ProcessStages* stages = run.stages.Main();
  if (stages == nullptr || run.steps.Main() == nullptr) return;
  const auto set_up_ns = double(stages->start_up.set_up_ns);
  const double wall_ns = RunWallNs(run);
  if (set_up_ns < kOnceNs || set_up_ns < kOnceShare * wall_ns) return;
  findings->push_back(
      {.title = "Setting up takes " + PercentOf(set_up_ns / wall_ns) + " of the run",
       .seen = "Between its imports and its first step the program worked " + TimeOf(set_up_ns) +
               ": on the model, the data or neither.",
       .why = "Every start of the program does that again.",
       .action = "Keep the result in a file (vocabularies, indexes, parsed or tokenized data: "
                 "pickle, numpy.save, torch.save) and read it in the next run.",
       .evidence = {{.kind = "stage", .name = "set-up"}},
       .run_gain_ns = set_up_ns * kOnceGain,
       .run_uncertainty_ns = set_up_ns * kOnceUncertainty,
       .once = true,
       .patch = {.place = "",
                 .diff = "-data = build()\n"
                         "+if not os.path.exists(cache):\n"
                         "+    torch.save(build(), cache)\n"
                         "+data = torch.load(cache)\n"}});
}

void PreprocessingCost(const RunMeasures& run, Findings* findings) {
  const ProcessStages* stages = run.stages.Main();
  if (stages == nullptr || run.steps.Main() == nullptr) return;
  const double preprocessing_ns = TotalNs(*stages, StageKind::kPreprocessing);
  const double wall_ns = RunWallNs(run);
  if (preprocessing_ns < kOnceNs || preprocessing_ns < kOnceShare * wall_ns) return;
  findings->push_back(
      {.title = "Preprocessing takes " + PercentOf(preprocessing_ns / wall_ns) + " of the run",
       .seen =
           "Before its loop the program prepared its data for " + TimeOf(preprocessing_ns) + ".",
       .why = "Every start of the program does that again, with the same result.",
       .action =
           "Keep the result in a file (numpy.save, torch.save, datasets' cache) and read it in "
           "the next run; or prepare samples in the DataLoader's workers, beside training.",
       .evidence = {{.kind = "stage", .name = "preprocessing"}},
       .run_gain_ns = preprocessing_ns * kOnceGain,
       .run_uncertainty_ns = preprocessing_ns * kOnceUncertainty,
       .once = true,
       .patch = {.place = "",
                 .diff = "-features = prepare(samples)\n"
                         "+if not os.path.exists(\"features.npy\"):\n"
                         "+    numpy.save(\"features.npy\", prepare(samples))\n"
                         "+features = numpy.load(\"features.npy\")\n"}});
}

// What of it could go is not in a recording: what a program imports, it may need.
void StartUpDominates(const RunMeasures& run, Findings* findings) {
  const ProcessStages* stages = run.stages.Main();
  if (stages == nullptr || run.steps.Main() == nullptr) return;
  const StartUpParts& parts = stages->start_up;
  const double wall_ns = RunWallNs(run);
  const double start_ns = double(parts.interpreter_ns + parts.imports_ns + parts.cuda_ns);
  if (wall_ns < kShortRunNs || start_ns < kStartUpShare * wall_ns) return;
  Finding finding{
      .title = "Starting takes " + PercentOf(start_ns / wall_ns) + " of the run",
      .seen = "Imports take " + TimeOf(double(parts.imports_ns)) + ", the GPU's context " +
              TimeOf(double(parts.cuda_ns)) + "; the largest imports stand under the stages.",
      .why = "It is paid again for every run, however short.",
      .action =
          "Do several runs in one process, or import what only some runs need where they "
          "need it."};
  finding.symptom = true;
  findings->push_back(std::move(finding));
}

void FirstBatch(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->thread.IsNone()) return;
  const PhaseCallsTable& phases = run.store->phase_calls;
  int64_t first_ns = -1;
  std::vector<int64_t> others_ns;
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != Phase::kDataLoaderNext || phases.thread[row] != main->thread ||
        phases.end_ns[row] == kOpenEnd) {
      continue;
    }
    const int64_t took_ns = phases.end_ns[row] - phases.start_ns[row];
    if (first_ns < 0)
      first_ns = took_ns;
    else
      others_ns.push_back(took_ns);
  }
  if (others_ns.empty()) return;
  const double extra_ns = double(first_ns - LowerQuantile(others_ns, 0.5));
  if (extra_ns < kOnceNs || extra_ns < kOnceShare * RunWallNs(run)) return;
  findings->push_back(
      {.title = "The first batch takes " + TimeOf(double(first_ns)),
       .seen = "A later batch takes " + TimeOf(double(LowerQuantile(others_ns, 0.5))) + ".",
       .why = "The data set opens or indexes its files when the first sample is asked for, or the "
              "workers start.",
       .action = "Keep the index in a file; start the workers before the model is made "
                 "(iter(loader)); fork instead of spawn where it is safe.",
       .evidence = {{.kind = "call", .name = "DataLoader.__next__", .count = 1}},
       .run_gain_ns = extra_ns * kOnceGain,
       .run_uncertainty_ns = extra_ns * kOnceUncertainty,
       .once = true});
}

}  // namespace batchlight::advice
