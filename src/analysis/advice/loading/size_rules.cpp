// Steps that differ: what the long ones wait for, and batches of different sizes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/processor_wait.h"
#include "analysis/advice/rules.h"
#include "analysis/numbers/quantile.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

constexpr std::string_view kPaddingKey = "data.padding";
constexpr std::string_view kBeyondLongestKey = "data.padding_beyond_longest";

// What a step computes: how much of it there is depends on its batch, and all of it slows down
// when something else takes the processors.
bool IsComputing(PhaseKind kind) { return IsOfModel(kind) || IsOfOptimizer(kind); }

// How the long steps spend their time, in words.
std::string WordsFor(const PhaseShare& phase) {
  switch (phase.kind) {
    case PhaseKind::kDataLoading:
      return "wait for data";
    case PhaseKind::kCopyToDevice:
      return "copy to the device";
    case PhaseKind::kCommunication:
      return "wait for other ranks";
    case PhaseKind::kCompile:
      return "compile";
    case PhaseKind::kValidation:
      return "hold a validation";
    case PhaseKind::kRollout:
      return "hold a rollout";
    case PhaseKind::kCheckpoint:
      return "save a checkpoint";
    case PhaseKind::kGpuWait:
      return "wait for the GPU";
    case PhaseKind::kUserRange:
      return "are in `" + phase.name + "`";
    default:
      return "run Python outside of the model";
  }
}

struct LongSteps {
  const PhaseShare* cause = nullptr;  // the phase that grew; nullptr: all did
  double excess_share = 0;            // of the long steps' excess, in that phase
  size_t count = 0;
};

LongSteps ExplainLongSteps(const StepBreakdown& breakdown, const ProcessSteps& main) {
  LongSteps found;
  const double limit_ns = double(main.duration.median) * (1 + kUnevenExcess);
  double excess_ns = 0;
  std::vector<uint32_t> rows;
  for (const uint32_t row : main.steady) {
    if (double(main.steps[row].duration_ns()) <= limit_ns) continue;
    rows.push_back(row);
    excess_ns += double(main.steps[row].duration_ns() - main.duration.median);
  }
  found.count = rows.size();
  if (excess_ns <= 0) return found;
  for (const PhaseShare& phase : breakdown.phases) {
    if (IsComputing(phase.kind)) continue;
    double of_phase_ns = 0;
    for (const uint32_t row : rows) {
      of_phase_ns += double(phase.per_step_ns[row] - phase.steady.median);
    }
    const double share = of_phase_ns / excess_ns;
    if (share <= found.excess_share) continue;
    found.excess_share = share;
    // Where every phase takes longer in proportion, none is the cause.
    const double usual = double(phase.steady.median) / std::max(1.0, double(main.duration.median));
    const bool stands_out = share >= kCauseOfUneven && share >= kCauseStandsOut * usual;
    found.cause = stands_out ? &phase : nullptr;
  }
  return found;
}

// Correlation of two lists of the same length, -1 to 1; 0 where one of them does not vary.
double Correlation(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  const auto count = double(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double da = double(a[i]) - mean_a, db = double(b[i]) - mean_b;
    ab += da * db;
    aa += da * da;
    bb += db * db;
  }
  return aa <= 0 || bb <= 0 ? 0 : ab / std::sqrt(aa * bb);
}

// Calls of models in each step.
std::vector<int64_t> ModelCallsInSteps(const Store& store, const ProcessSteps& main) {
  std::vector<int64_t> counts(main.steps.size());
  const ModuleCallsTable& calls = store.module_calls;
  StepLookup lookup(&main);
  for (size_t row = 0; row < calls.size(); ++row) {
    if (!calls.parent[row].IsNone() || calls.thread[row] != main.thread) continue;
    const size_t step = lookup.RowAt(calls.start_ns[row]);
    if (step != StepLookup::kNone) ++counts[step];
  }
  return counts;
}

// Operators that each step calls, on all threads of the process.
std::vector<int64_t> OperatorsInSteps(const Store& store, const ProcessSteps& main) {
  std::vector<int64_t> counts(main.steps.size());
  const OperatorCallsTable& calls = store.operator_calls;
  StepLookup lookup(&main);
  for (size_t row = 0; row < calls.size(); ++row) {
    if (store.ProcessOf(calls.thread[row]) != main.process) continue;
    const size_t step = lookup.RowAt(calls.start_ns[row]);
    if (step != StepLookup::kNone) ++counts[step];
  }
  return counts;
}

// Blocks of all kernels that each step launches.
std::vector<int64_t> BlocksInSteps(const Store& store, const ProcessSteps& main) {
  std::vector<int64_t> counts(main.steps.size());
  const KernelsTable& kernels = store.kernels;
  StepLookup lookup(&main);
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (kernels.process[row] != main.process || kernels.launch[row].IsNone()) continue;
    if (kernels.api_call[row].IsNone()) continue;
    const size_t step = lookup.RowAt(store.api_calls.start_ns[kernels.api_call[row].row()]);
    if (step == StepLookup::kNone) continue;
    const KernelLaunchesRow launch = store.kernel_launches.Row(kernels.launch[row].row());
    counts[step] += int64_t{launch.grid_x} * launch.grid_y * launch.grid_z;
  }
  return counts;
}

std::vector<int64_t> OfSteady(const ProcessSteps& main, const std::vector<int64_t>& of_steps) {
  std::vector<int64_t> values;
  for (const uint32_t row : main.steady) values.push_back(of_steps[row]);
  return values;
}

// Of every step: on the GPU where the process has one, as the CPU runs ahead.
std::vector<int64_t> TimesOf(const ProcessSteps& main, const GpuBreakdown* gpu) {
  std::vector<int64_t> times;
  const bool on_gpu = gpu != nullptr && gpu->process == main.process;
  for (size_t i = 0; i < main.steps.size(); ++i) {
    times.push_back(on_gpu ? gpu->steps[i].duration_ns() : main.steps[i].duration_ns());
  }
  return times;
}

// From the shortest tenth to the longest, as a part of the median.
double SpreadOf(std::vector<int64_t> values) {
  const double low = Quantile(values, 0.1), high = Quantile(values, 0.9);
  return (high - low) / std::max(1.0, Quantile(values, 0.5));
}

std::vector<int64_t> RanksOf(const std::vector<int64_t>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<int64_t> ranks(values.size());
  for (size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<int64_t>(i);
  return ranks;
}

std::vector<int64_t> ChangesOf(const std::vector<int64_t>& values) {
  std::vector<int64_t> changes;
  for (size_t i = 1; i < values.size(); ++i) changes.push_back(values[i] - values[i - 1]);
  return changes;
}

// Of each steady step, the time in phases of these kinds.
template <typename IsWanted>
std::vector<int64_t> TimeInPhases(const StepBreakdown& breakdown, const ProcessSteps& main,
                                  const IsWanted& is_wanted) {
  std::vector<int64_t> sum_ns(main.steps.size());
  for (const PhaseShare& phase : breakdown.phases) {
    if (!is_wanted(phase.kind)) continue;
    for (size_t i = 0; i < sum_ns.size(); ++i) sum_ns[i] += phase.per_step_ns[i];
  }
  return OfSteady(main, sum_ns);
}

// How much of `excess_ns`, what the mean step takes over the shortest tenth, is the model's; 1
// where no phase is known to be.
double ModelShareOfExcess(const StepBreakdown& breakdown, const ProcessSteps& main,
                          double excess_ns) {
  std::vector<int64_t> model_ns = TimeInPhases(breakdown, main, IsOfModel);
  const int64_t sum_ns = std::accumulate(model_ns.begin(), model_ns.end(), int64_t{0});
  if (sum_ns == 0) return 1;
  const double mean_ns = double(sum_ns) / double(model_ns.size());
  return (mean_ns - Quantile(model_ns, 0.1)) / excess_ns;
}

double TogetherFromStepToStep(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return Correlation(RanksOf(ChangesOf(a)), RanksOf(ChangesOf(b)));
}

// What a larger batch does to the two that compute, and what slows a machine down for a moment, or
// for many steps, does not: that lengthens the optimizer as well.
bool ForwardAndBackwardGrowTogether(const StepBreakdown& breakdown, const ProcessSteps& main) {
  const auto of_kind = [&](PhaseKind wanted) {
    return TimeInPhases(breakdown, main, [wanted](PhaseKind kind) { return kind == wanted; });
  };
  const std::vector<int64_t> forward_ns = of_kind(PhaseKind::kForward),
                             backward_ns = of_kind(PhaseKind::kBackward),
                             optimizer_ns = TimeInPhases(breakdown, main, IsOfOptimizer);
  if (SpreadOf(forward_ns) < kSizeSpreadOfBoth || SpreadOf(backward_ns) < kSizeSpreadOfBoth) {
    return false;
  }
  if (SpreadOf(optimizer_ns) >= kSizeSpreadOfBoth &&
      TogetherFromStepToStep(optimizer_ns, backward_ns) >= kSizeOfOptimizer) {
    return false;
  }
  return TogetherFromStepToStep(forward_ns, backward_ns) >= kSizeTogether;
}

// Whether the work of a step differs from step to step, and the time with it.
bool TimeFollowsWork(std::vector<int64_t> work, const std::vector<int64_t>& time_ns) {
  if (Correlation(work, time_ns) < kSizeCorrelation) return false;
  return SpreadOf(std::move(work)) >= kSizeSpread;
}

// A few sizes that come again and again: whoever made these batches has put samples of one length
// together, or has pictures of a few sizes. The longest of a random batch is of any length.
bool AreOfAFewSizes(std::vector<int64_t> work) {
  std::sort(work.begin(), work.end());
  const double least = kStepsOfASize * double(work.size());
  double covered = 0;
  for (auto begin = work.begin(); begin != work.end();) {
    const auto end = std::upper_bound(begin, work.end(), *begin);
    if (double(end - begin) >= least) covered += double(end - begin);
    begin = end;
  }
  return covered >= kStepsOfFewSizes * double(work.size());
}

// Whether the work of steps differs as that of padded batches does, and the time with it.
bool WorkIsOfBatches(const std::vector<int64_t>& work, const std::vector<int64_t>& time_ns) {
  return TimeFollowsWork(work, time_ns) && !AreOfAFewSizes(work);
}

// Of the positions of batches, where some were looked at (data.padding).
double MostPadding(const RunMeasures& run) {
  const bool known = !TrainingProperty(run, kPaddingKey).empty();
  return known ? NumberProperty(run, kPaddingKey) : 1;
}

// What batches of ever new lengths would cost where cuDNN plans for each shape it has not seen.
std::string KeepToFewShapes(const RunMeasures& run) {
  if (run.cudnn_plans.attention.calls_per_step > 0) {
    return " To a multiple of 64 (pad_to_multiple_of=64), with the same batch size throughout: "
           "cuDNN's attention, which computes here, plans for about 0.1 s at each shape it has not "
           "seen.";
  }
  if (run.cudnn_plans.convolutions.calls_per_step > 0 &&
      TrainingProperty(run, "torch.cudnn_benchmark") == "True") {
    return " To a multiple of 64, or with torch.backends.cudnn.benchmark = False: with it on, "
           "cuDNN times all its algorithms at each shape it has not seen.";
  }
  return "";
}

}  // namespace

void UnevenSteps(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const StepBreakdown* breakdown = run.MainBreakdown();
  if (main == nullptr || breakdown == nullptr || double(main->duration.count) < kUnevenSteps)
    return;
  const Sample& duration = main->duration;
  const double excess_ns = duration.mean - static_cast<double>(duration.median);
  if (excess_ns < kUnevenExcess * static_cast<double>(duration.median)) return;
  // A CPU that runs ahead of the GPU launches some steps at once and then waits: only what makes
  // the GPU's steps uneven too costs time.
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu != nullptr && gpu->window.count != 0) {
    const double of_gpu_ns = gpu->window.mean - static_cast<double>(gpu->window.median);
    if (of_gpu_ns < kUnevenExcess * static_cast<double>(gpu->window.median)) return;
  }
  const LongSteps long_steps = ExplainLongSteps(*breakdown, *main);
  if (long_steps.cause == nullptr) return;
  const std::string cause = WordsFor(*long_steps.cause);
  Finding finding{
      .title = "Steps are uneven: the long ones " + cause,
      .seen = std::to_string(long_steps.count) + " of " + std::to_string(duration.count) +
              " steps take over " + PercentOf(kUnevenExcess) + " longer than the median " +
              TimeOf(double(duration.median)) + "; " + PercentOf(long_steps.excess_share) +
              " of what they take more is in " + long_steps.cause->name + ".",
      .why = "A few slow steps lengthen the mean, and with several ranks all wait for the slowest.",
      .action =
          "This says where the time goes, not what to change: see the finding about it, and "
          "the longest steps in the table of steps."};
  finding.kind = FindingKind::kSymptom;
  for (const uint32_t row : main->steady) {
    const Step& step = main->steps[row];
    if (!step.outlier || finding.evidence.size() >= 5) continue;
    finding.evidence.push_back({.kind = "step",
                                .name = std::to_string(step.number),
                                .count = 1,
                                .per_step_ns = double(step.duration_ns()),
                                .step = step.number});
  }
  findings->push_back(std::move(finding));
}

void Padding(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || double(main->steady.size()) < kUnevenSteps) return;
  // All of one length, then.
  if (NumberProperty(run, kBeyondLongestKey) >= kPaddedShare) return;
  const std::vector<int64_t> time_ns = OfSteady(*main, TimesOf(*main, run.gpu.MainBreakdown()));
  std::vector<int64_t> ordered = time_ns;
  const double shortest_ns = Quantile(ordered, 0.1);
  const double mean_ns =
      std::accumulate(time_ns.begin(), time_ns.end(), 0.0) / double(time_ns.size());
  const double gain_ns = std::min(mean_ns - shortest_ns, MostPadding(run) * mean_ns);
  if (mean_ns - shortest_ns < kSizeSpread * mean_ns || !CanBeSeen(run, gain_ns)) return;
  const StepBreakdown* breakdown = run.MainBreakdown();
  const bool on_cpu = run.gpu.empty() && breakdown != nullptr;
  // Many short forwards and backwards in turn: what takes the processor away lengthens both.
  const double waits = ProcessorWait(run);
  const bool in_turn = (main->micro_batches > 1 && waits > 0) || waits > kBusyMachine;
  if (!WorkIsOfBatches(OfSteady(*main, OperatorsInSteps(*run.store, *main)), time_ns) &&
      !WorkIsOfBatches(OfSteady(*main, BlocksInSteps(*run.store, *main)), time_ns) &&
      !(on_cpu && !in_turn && ForwardAndBackwardGrowTogether(*breakdown, *main))) {
    return;
  }
  // An optimizer whose work grows (LBFGS' history) is no matter of batches.
  if (on_cpu && ModelShareOfExcess(*breakdown, *main, mean_ns - shortest_ns) < kSizeOfModel) return;
  // Rollouts and the like: more calls of the model, not calls with more.
  if (TimeFollowsWork(OfSteady(*main, ModelCallsInSteps(*run.store, *main)), time_ns)) return;
  findings->push_back(
      {.title = "Batches have very different sizes",
       .seen = "A tenth of the steps take " + TimeOf(shortest_ns) + " or less, the mean is " +
               TimeOf(mean_ns) +
               ", and steps take as long as they have work: operators, blocks of kernels, or "
               "forward and backward together.",
       .why = "A batch is padded to its longest sample: the rest of it is computed for nothing.",
       .action =
           "Put samples of similar length in a batch (sort within a window, a bucket sampler, "
           "group_by_length=True), pack them, or cut the longest.",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kPaddingUncertainty,
       .evidence = {{.kind = "step", .name = "shortest tenth", .per_step_ns = shortest_ns}},
       .patch = {
           .place = "",
           .diff =
               "-order = torch.randperm(len(lengths))\n"
               "-batches = order.split(batch_size)\n"
               "+order = sorted(range(len(lengths)), key=lengths.__getitem__)\n"
               "+batches = [order[i:i + batch_size] for i in range(0, len(order), batch_size)]\n"
               "+random.shuffle(batches)\n"}});
}

void PaddingToOneLength(const RunMeasures& run, Findings* findings) {
  const double beyond = NumberProperty(run, kBeyondLongestKey);
  const double step_ns = MeanStepNs(run);
  if (step_ns <= 0 || beyond < kPaddedShare) return;
  const double work_ns =
      run.gpu.empty()
          ? step_ns *
                (PhaseShareOf(run, PhaseKind::kForward) + PhaseShareOf(run, PhaseKind::kLoss) +
                 PhaseShareOf(run, PhaseKind::kBackward))
          : step_ns * (GpuShare(run, GpuPart::kTensorCore) + GpuShare(run, GpuPart::kCompute));
  const double gain_ns = WithinCpuSlack(run, work_ns * beyond);
  if (!CanBeSeen(run, gain_ns)) return;
  const double padding = NumberProperty(run, kPaddingKey);
  const std::string collate = RecordedPlace(run, "site.collate");
  findings->push_back(
      {.title = PercentOf(padding) + " of the batches is padding, most of it to one length for all",
       .seen = "In the batches looked at, " + PercentOf(padding) +
               " of the positions are padding, and " + PercentOf(beyond) +
               " lie beyond the longest sample of their own batch.",
       .why = "The model computes all positions, whatever a mask then does with them.",
       .action = "Pad to the longest sample of each batch (pad_sequence in collate_fn, "
                 "DataCollatorWithPadding, padding=\"longest\"), and put samples of similar "
                 "length together." +
                 KeepToFewShapes(run),
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kPaddedUncertainty,
       .evidence = {{.kind = "step", .name = "padding", .per_step_ns = gain_ns}},
       .patch = {.place = collate.empty() ? RecordedPlace(run, "site.dataloader") : collate,
                 .diff = "-loader = DataLoader(dataset, collate_fn=pad_to_one_length)\n"
                         "+loader = DataLoader(dataset, collate_fn=lambda samples: "
                         "torch.nn.utils.rnn.pad_sequence(samples, batch_first=True))\n"}});
}

namespace {

struct Products {
  double per_step_ns = 0;
  double per_step = 0;
};

// The long products of two matrices in steady steps. A matrix of a million numbers makes them long.
Products LongProducts(const RunMeasures& run, const ProcessSteps& main) {
  const OperatorCallsTable& calls = run.store->operator_calls;
  const ThreadSpans::Rows rows = ThreadSpans(calls.thread).Of(main.thread);
  StepLookup lookup(&main);
  std::vector<int64_t> took_ns;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const std::string_view name = run.store->Text(calls.name[row]);
    if (name != "aten::mm" && name != "aten::addmm") continue;
    if (lookup.IsSteadyAt(calls.start_ns[row]) && calls.end_ns[row] != kOpenEnd) {
      took_ns.push_back(calls.end_ns[row] - calls.start_ns[row]);
    }
  }
  Products products;
  if (took_ns.empty()) return products;
  constexpr double kOfLong = 0.9;  // quantile
  const double least_ns = kLongProduct * double(LowerQuantile(took_ns, kOfLong));
  const auto steps = double(main.steady.size());
  for (const int64_t ns : took_ns) {
    if (double(ns) < least_ns) continue;
    products.per_step_ns += double(ns) / steps;
    products.per_step += 1 / steps;
  }
  return products;
}

}  // namespace

void SparseAsDense(const RunMeasures& run, Findings* findings) {
  const double zeros = NumberProperty(run, "data.zeros");
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (zeros < kNearlyAllZeros || main == nullptr || main->thread.IsNone() || step_ns <= 0) return;
  const Products products = LongProducts(run, *main);
  if (products.per_step_ns < kSparseProducts * step_ns) return;
  const std::string shape(TrainingProperty(run, "data.zeros_shape"));
  const std::string share = PercentOf(products.per_step_ns / step_ns);
  const std::string part = Rounded(100 * zeros) + " %";  // 99.9
  const std::string module =
      run.modules.rows.empty() ? "" : " `" + run.modules.rows.front().path + '`';
  const double gain_ns = products.per_step_ns * CpuExposure(run) * kSparseGain;
  findings->push_back(
      {.title = "A matrix of " + shape + " with " + part + " zeros is multiplied as a dense one",
       .seen = "The model" + module + " is given a matrix of " + shape + " of which " + part +
               " are zeros; " + Rounded(products.per_step) +
               " long products of matrices (aten::mm) take " + TimeOf(products.per_step_ns) +
               " of a step (" + share + ").",
       .why = "A dense product multiplies every zero, and reads it from memory.",
       .action = "Keep it sparse (torch.sparse_coo_tensor(...).coalesce().to_sparse_csr(), "
                 "torch.sparse.mm; of a graph: an edge list and index_add or scatter). Its zeros "
                 "then cost neither time nor memory.",
       .gain_ns = gain_ns,
       .uncertainty_ns = products.per_step_ns * kSparseUncertainty,
       .evidence = {{.kind = "operator", .name = "aten::mm", .per_step_ns = products.per_step_ns}},
       .patch = {.place = "",
                 .diff = "-adj = torch.tensor(adj.todense())\n"
                         "+adj = torch.sparse_coo_tensor(indices, values, shape).to_sparse_csr()\n"
                         " h = adj @ (x @ weight)\n"}});
}

}  // namespace batchlight::advice
