// What ranks do to each other: waiting for the slowest, communication, pipelines.
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/kernel_evidence.h"
#include "analysis/advice/rules.h"
#include "analysis/lines/code_samples.h"
#include "analysis/numbers/time_span.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/ranks/call_numbers.h"
#include "analysis/ranks/late/common_steps.h"
#include "analysis/ranks/late/lateness.h"
#include "analysis/ranks/late/own_times.h"
#include "analysis/ranks/late/rank_pace.h"
#include "analysis/ranks/late/slow_rank.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

std::string RankText(const Store& store, const ProcessSteps& process) {
  if (process.rank >= 0) return "Rank " + std::to_string(process.rank);
  const std::string_view rank = store.Property("torch.distributed_rank", process.process);
  if (!rank.empty()) return "Rank " + std::string(rank);
  return "Process " + std::to_string(store.processes.pid[process.process.row()]);
}

std::vector<std::vector<PhaseTimes>> TimesOf(const RunMeasures& run) {
  std::vector<std::vector<PhaseTimes>> times;
  for (const StepBreakdown& rank : run.breakdowns) times.push_back(PhaseTimesOf(rank.phases));
  return times;
}

std::vector<RankPhases> PhasesOf(const std::vector<std::vector<PhaseTimes>>& times,
                                 const CommonSteps& common) {
  std::vector<RankPhases> ranks;
  for (size_t rank = 0; rank < times.size(); ++rank) {
    ranks.push_back({times[rank], common.rows[rank]});
  }
  return ranks;
}

// By NCCL's kernels, which say exactly who waited; the phase by comparison.
std::optional<SlowRank> SlowByCollectives(const RunMeasures& run,
                                          const std::vector<RankPhases>& ranks) {
  const Distributed& found = run.distributed;
  if (!found.straggler) return std::nullopt;
  if (found.late) return ExplainLateRank(ranks, *found.late);
  const Straggler& straggler = *found.straggler;  // ranks are in order of the processes
  LateRank always{.rank = straggler.rank, .waited_ns = straggler.waited_ns, .late_steps = {}};
  const size_t steps = found.common.rows[straggler.rank].size();
  for (uint32_t step = 0; step < steps; ++step) always.late_steps.push_back(step);
  return ExplainLateRank(ranks, always);
}

// ", in all 60 steps", ", in 7 of 60 steps (3, 10, 17, ...)".
std::string StepsText(const ProcessSteps& process, const std::vector<uint32_t>& compared,
                      const SlowRank& slow) {
  constexpr size_t kMost = 5;
  const size_t all = compared.size();
  const size_t count = slow.late_steps.size();
  if (count == all) return ", in all " + std::to_string(all) + " steps";
  std::string numbers;
  for (size_t i = 0; i < std::min(count, kMost); ++i) {
    const uint32_t row = compared[slow.late_steps[i]];
    numbers += (i == 0 ? "" : ", ") + std::to_string(process.steps[row].number);
  }
  return ", in " + std::to_string(count) + " of " + std::to_string(all) + " steps" +
         (count * 2 > all ? "" : " (" + numbers + (count > kMost ? ", ..." : "") + ")");
}

std::string DoingText(const SlowRank& slow) {
  if (slow.phase == nullptr) return "";
  if (slow.phase->kind == PhaseKind::kOther) return " for Python outside of the model";
  if (slow.phase->kind == PhaseKind::kUserRange) return " in `" + slow.phase->name + "`";
  return " for " + slow.phase->name;
}

// What a rank's loop is in, by samples, in steps of it.
SampledTime SampledIn(const CodeSamples& samples, const ProcessSteps& process,
                      const std::vector<uint32_t>& rows) {
  std::vector<TimeSpan> spans;
  for (const uint32_t row : rows) {
    spans.push_back({process.steps[row].start_ns, process.steps[row].end_ns});
  }
  return samples.During(process.thread, spans);
}

// The function of the program that takes longer in a rank's late steps than in its others, if that
// explains half of what the rank takes longer. nullopt: not known, or it is late in most steps.
std::optional<SampledFunction> LateFunction(const RunMeasures& run, const ProcessSteps& process,
                                            const std::vector<uint32_t>& compared,
                                            const SlowRank& slow) {
  const CodeSamples samples(*run.store);
  if (samples.empty() || process.thread.IsNone() || slow.phase == nullptr) return std::nullopt;
  std::vector<uint32_t> late, others;
  auto next = slow.late_steps.begin();
  for (uint32_t i = 0; i < compared.size(); ++i) {
    const bool is_late = next != slow.late_steps.end() && *next == i;
    (is_late ? late : others).push_back(compared[i]);
    next += is_late;
  }
  if (late.empty() || others.size() < late.size()) return std::nullopt;
  std::map<FunctionName, double> usual_ns;  // a step
  for (const SampledFunction& function : SampledIn(samples, process, others).functions) {
    usual_ns[{function.file, function.function}] = double(function.ns) / double(others.size());
  }
  std::optional<SampledFunction> most;
  double most_ns = kLateFunction * slow.longer_ns;
  for (const SampledFunction& function : SampledIn(samples, process, late).functions) {
    const double more_ns =
        double(function.ns) / double(late.size()) - usual_ns[{function.file, function.function}];
    if (more_ns < most_ns) continue;
    most = function;
    most_ns = more_ns;
  }
  return most;
}

// " aten::mm takes 12.0 ms of such a step there, ..."; "": no operator takes longer.
std::string LongerOperator(const RunMeasures& run, const CommonSteps& common,
                           const SlowRank& slow) {
  const std::vector<RankOwnTimes> times = MeasureOwnTimes(*run.store, run.steps);
  const double in_late_step =
      double(common.rows[slow.rank].size()) / double(std::max<size_t>(slow.late_steps.size(), 1));
  LongerCalls calls(times[slow.rank].operators, common.rows[slow.rank], slow.late_steps,
                    slow.waited_ns * in_late_step);
  for (size_t i = 0; i < times.size(); ++i) {
    if (i != slow.rank) calls.AddOther(times[i].operators, common.rows[i]);
  }
  const std::vector<LongerCall> longer = calls.Take();
  if (longer.empty()) return "";
  return " " + longer[0].name + " takes " + TimeOf(longer[0].ns) + " of such a step there, " +
         TimeOf(longer[0].others_ns) + " at most on another rank.";
}

LateVerdict Judge(const RunMeasures& run, const CommonSteps& common, const SlowRank& slow) {
  const std::vector<RankPace> paces = MeasurePaces(*run.store, run.steps, run.breakdowns);
  const std::vector<RankRow>& rows = run.distributed.ranks;
  std::vector<std::vector<int64_t>> step_ns;
  std::vector<PacedRank> ranks;
  for (const ProcessSteps& process : run.steps.processes) {
    std::vector<int64_t>& lengths = step_ns.emplace_back();
    for (const Step& step : process.steps) lengths.push_back(step.duration_ns());
  }
  for (size_t i = 0; i < paces.size(); ++i) {
    PacedRank& rank = ranks.emplace_back();
    rank.step_ns = step_ns[i];
    rank.steady = common.rows[i];
    rank.pace = &paces[i];
    if (rows.size() != paces.size()) continue;
    rank.communication_ns = std::max(0.0, rows[i].exposed_communication_ns - rows[i].waited_ns);
  }
  return JudgeLateRank(slow, ranks);
}

// PyTorch makes all_to_all of a Send and a Recv for each rank: the kernel's name is a pipeline's
// too.
bool ExchangesTokens(const RunMeasures& run) {
  int64_t sent_ns = 0, exchanged_ns = 0;
  for (const CollectiveRow& row : run.distributed.collectives) {
    if (IsBetweenTwo(row.operation)) sent_ns += row.times.kernel_ns;
    if (row.operation == "AlltoAll") exchanged_ns += row.times.kernel_ns;
  }
  return exchanged_ns > sent_ns;
}

bool IsSendReceive(const RunMeasures& run, const KernelRow& kernel) {
  return !ExchangesTokens(run) &&
         run.store->Text(kernel.short_name).find("SendRecv") != std::string_view::npos;
}

// Exposed communication of the main process by its parts, ns a step.
struct Exposed {
  double all_ns = 0;
  double sent_ns = 0;    // in kernels that send and receive: pipelines
  double waited_ns = 0;  // of the rest: for slower ranks
  double own_ns() const { return std::max(0.0, all_ns - sent_ns - waited_ns); }
};

Exposed ExposedOf(const RunMeasures& run) {
  Exposed exposed{.all_ns = GpuPartNs(run, GpuPart::kCommunication)};
  double sent_ns = 0, total_ns = 0;
  for (const KernelRow& kernel : run.gpu.kernels) {
    if (kernel.kind.kind != KernelKind::kCommunication) continue;
    total_ns += kernel.per_step_ns;
    if (IsSendReceive(run, kernel)) sent_ns += kernel.per_step_ns;
  }
  if (total_ns == 0) return exposed;
  exposed.sent_ns = exposed.all_ns * sent_ns / total_ns;
  const ProcessSteps* main = run.steps.Main();
  for (const RankRow& row : run.distributed.ranks) {
    if (main == nullptr || row.process != main->process) continue;
    exposed.waited_ns = std::min(row.waited_ns, exposed.all_ns - exposed.sent_ns);
  }
  return exposed;
}

// Without a GPU: the loop sends, or waits for what it receives.
double SentOnCpuNs(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  if (!run.gpu.empty() || main == nullptr || main->steady.empty()) return 0;
  const PhaseMarks& marks = run.inputs->marks;
  const ThreadSpans::Rows rows = marks.RowsOf(main->thread);
  StepLookup steps(main);
  std::vector<TimeSpan> spans;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = marks.all()[row];
    if (mark.kind != PhaseKind::kCommunication || !steps.IsSteadyAt(mark.start_ns)) continue;
    const std::string_view name = run.store->Text(mark.name);
    if (!name.starts_with("c10d::send") && !name.starts_with("c10d::recv")) continue;
    AddSpan(spans, mark.start_ns, mark.end_ns);
  }
  double sent_ns = 0;
  for (const TimeSpan& span : spans) sent_ns += double(span.end_ns - span.start_ns);
  return sent_ns / double(main->steady.size());
}

std::vector<Evidence> CommunicationKernels(const RunMeasures& run, bool sent) {
  std::vector<Evidence> evidence;
  for (const KernelRow& kernel : run.gpu.kernels) {
    if (kernel.kind.kind != KernelKind::kCommunication || evidence.size() >= 5) continue;
    if (IsSendReceive(run, kernel) != sent) continue;
    evidence.push_back(KernelEvidence(*run.store, kernel));
  }
  return evidence;
}

enum class Summing { kByDdp, kByFsdp, kByExperts };

// Whose collectives these are, longest first: FSDP gathers parameters and scatters gradients.
Summing SummingOf(const RunMeasures& run, const std::vector<Evidence>& kernels) {
  const auto is = [&](std::string_view name) {
    return !kernels.empty() && kernels.front().name.find(name) != std::string::npos;
  };
  if (is("AllGather") || is("ReduceScatter")) return Summing::kByFsdp;
  const bool exchanges =
      is("AllToAll") || is("Alltoall") || (is("SendRecv") && ExchangesTokens(run));
  return exchanges ? Summing::kByExperts : Summing::kByDdp;
}

std::string HideAction(Summing summing) {
  switch (summing) {
    case Summing::kByFsdp:
      return "FSDP gathers parameters and scatters gradients: prefetch "
             "(backward_prefetch=BackwardPrefetch.BACKWARD_PRE, forward_prefetch=True), wrap "
             "blocks that are larger, keep parameters after forward where memory allows "
             "(ShardingStrategy.SHARD_GRAD_OP, reshard_after_forward=False), skip reductions while "
             "accumulating gradients (no_sync).";
    case Summing::kByExperts:
      return "Experts exchange tokens: overlap the exchange with the computing of shared layers, "
             "lower the capacity, or keep groups of experts within a node.";
    case Summing::kByDdp:
      break;
  }
  return "DistributedDataParallel: tune bucket_cap_mb so that the last bucket is small, set "
         "gradient_as_bucket_view=True; skip reductions while accumulating gradients (no_sync); "
         "send in bf16 (a communication hook).";
}

// Where the model is wrapped is not recorded.
Patch HidePatch(Summing summing) {
  switch (summing) {
    case Summing::kByFsdp:
      return {.place = "",
              .diff =
                  "-model = FSDP(model)\n"
                  "+model = FSDP(model, forward_prefetch=True,\n"
                  "+             backward_prefetch=BackwardPrefetch.BACKWARD_PRE)\n"};
    case Summing::kByExperts:
      return {};
    case Summing::kByDdp:
      break;
  }
  return {.place = "",
          .diff =
              "-model = DistributedDataParallel(model)\n"
              "+model = DistributedDataParallel(model, bucket_cap_mb=10,  # try 5 to 50\n"
              "+                                gradient_as_bucket_view=True)\n"};
}

// Of the steady steps' backwards: how many there are, and in how many the process starts a
// collective, on whichever thread.
struct SyncedBackwards {
  size_t all = 0;
  size_t synced = 0;
};

SyncedBackwards CountSynced(const RunMeasures& run, const ProcessSteps& main) {
  const PhaseMarks& marks = run.inputs->marks;
  std::vector<int64_t> starts_ns;
  for (const PhaseMark& mark : marks.all()) {
    if (mark.kind == PhaseKind::kCommunication &&
        run.store->ProcessOf(mark.thread) == main.process) {
      starts_ns.push_back(mark.start_ns);
    }
  }
  std::sort(starts_ns.begin(), starts_ns.end());
  SyncedBackwards found;
  StepLookup lookup(&main);
  for (const PhaseMark& backward : marks.Outermost(main.thread, PhaseKind::kBackward)) {
    if (!lookup.IsSteadyAt(backward.start_ns)) continue;
    ++found.all;
    const auto next = std::lower_bound(starts_ns.begin(), starts_ns.end(), backward.start_ns);
    found.synced += next != starts_ns.end() && *next < backward.end_ns;
  }
  return found;
}

// What a step takes longer for collectives: their kernels that nothing hides, or, where they run
// without a GPU (gloo), waiting for them.
double ExposedSumsNs(const RunMeasures& run) {
  if (run.gpu.empty()) return PhaseShareOf(run, PhaseKind::kCommunication) * MeanStepNs(run);
  const double kernels_ns = ExposedOf(run).own_ns();
  return kernels_ns > 0 ? kernels_ns : BackwardWaitNs(run);
}

}  // namespace

// The optimizer needs the sum over ranks once, after the last micro-batch.
void SyncEachMicroBatch(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || main->thread.IsNone() || main->micro_batches < 2 || step_ns <= 0) return;
  const double exposed_ns = ExposedSumsNs(run);
  if (exposed_ns < kExposedCommunication * step_ns) return;
  const SyncedBackwards backwards = CountSynced(run, *main);
  if (backwards.all < 2 * main->steady.size() ||
      double(backwards.synced) < kSyncedBackwards * double(backwards.all)) {
    return;
  }
  const auto count = double(main->micro_batches);
  const double needless_ns = exposed_ns * (1 - 1 / count);
  findings->push_back(
      {.title = "Ranks sum up their gradients in each of " + std::to_string(main->micro_batches) +
                " micro-batches",
       .seen = std::to_string(backwards.synced) + " of " + std::to_string(backwards.all) +
               " backwards start collectives; they and waiting for them take " +
               TimeOf(exposed_ns) + " of a step (" + PercentOf(exposed_ns / step_ns) + ").",
       .why = "The optimizer needs the sum once a step, behind the last micro-batch.",
       .action = "Run all micro-batches but the last under model.no_sync() "
                 "(DistributedDataParallel; FSDP keeps whole gradients then; accelerate: "
                 "accelerator.accumulate(model)).",
       .gain_ns = needless_ns * kSyncedGain,
       .uncertainty_ns = needless_ns * kSyncedUncertainty,
       .evidence = {{.kind = "step", .name = "micro-batches", .count = main->micro_batches}},
       .patch = {.place = "",
                 .diff = "-loss.backward()\n"
                         "+with model.no_sync() if micro_batch + 1 < micro_batches else "
                         "nullcontext():\n"
                         "+    model(x).loss.backward()  # the forward too\n"}});
}

void StragglerRank(const RunMeasures& run, Findings* findings) {
  if (run.steps.processes.size() < 2 || run.breakdowns.size() != run.steps.processes.size()) return;
  const std::vector<std::vector<PhaseTimes>> times = TimesOf(run);
  const CommonSteps& common = run.distributed.common;
  const std::vector<RankPhases> ranks = PhasesOf(times, common);
  const double step_ns = MeanStepNs(run);
  std::optional<SlowRank> slow = SlowByCollectives(run, ranks);
  if (!slow && run.gpu.empty()) slow = SlowByPhases(ranks, step_ns);
  if (!slow || slow->waited_ns < kStragglerWait * step_ns) return;
  const ProcessSteps& process = run.steps.processes[slow->rank];
  const LateVerdict verdict = Judge(run, common, *slow);
  const std::vector<uint32_t>& compared = common.rows[slow->rank];
  if (verdict.lost_ns < kStragglerWait * step_ns) return;
  std::string cause;
  if (slow->phase != nullptr) {
    cause = " It takes " + TimeOf(slow->longer_ns) + " longer" + DoingText(*slow) +
            " than any other rank" + StepsText(process, compared, *slow);
    const auto function = LateFunction(run, process, compared, *slow);
    if (function) cause += ", mostly in " + FunctionText(*run.store, *function);
    cause += ".";
  } else {
    cause = " It comes last" + StepsText(process, compared, *slow) + ".";
    if (verdict.lost_ns < slow->waited_ns / 2) {
      cause += " The others are hardly faster: a step would be " + TimeOf(verdict.lost_ns) +
               " shorter if it were as fast as they are.";
    }
    if (verdict.on_gpu) {
      cause += " Its GPU computes " + TimeOf(verdict.longer_gpu_ns) + " longer than any other.";
    }
  }
  cause += LongerOperator(run, common, *slow);
  const std::string rank = RankText(*run.store, process);
  findings->push_back(
      {.title = rank + " makes the others wait" + DoingText(*slow),
       .seen = "The other " +
               (run.steps.processes.size() == 2
                    ? std::string("rank waits ")
                    : std::to_string(run.steps.processes.size() - 1) + " ranks wait ") +
               TimeOf(slow->waited_ns) + " of a step (" + PercentOf(slow->waited_ns / step_ns) +
               ") for it." + cause,
       .why =
           "A collective ends when its last rank has come: each step takes as long as that of the "
           "slowest rank.",
       .action =
           verdict.on_gpu ? "Give that rank less to compute (a smaller share of a batch, a shorter "
                            "stage), or look at its GPU's clock and temperature."
           : slow->phase != nullptr
               ? "Give that rank the same work as the others there: shards and samples of equal "
                 "size, its storage, other programs on its host."
               : "Compare that rank's steps with the others' (--rank): its data, its host, its "
                 "GPU's clock.",
       .gain_ns = verdict.lost_ns * kStragglerGain,
       .uncertainty_ns = verdict.lost_ns * kStragglerUncertainty,
       .evidence = {{.kind = "rank",
                     .name = rank,
                     .count = compared.size(),
                     .per_step_ns = slow->longer_ns}}});
}

void PipelineBubble(const RunMeasures& run, Findings* findings) {
  const double sent_ns = run.gpu.empty() ? SentOnCpuNs(run) : ExposedOf(run).sent_ns;
  const double step_ns = MeanStepNs(run);
  if (step_ns == 0 || sent_ns < kPipelineBubble * step_ns) return;
  findings->push_back(
      {.title = "Stages of the pipeline wait for each other",
       .seen = "For " + TimeOf(sent_ns) + " of a step (" + PercentOf(sent_ns / step_ns) +
               ") only sending and receiving between stages runs.",
       .why =
           "A stage has nothing to compute until the first micro-batch reaches it, and after its "
           "last one: the bubble is (stages - 1) / (micro-batches + stages - 1) of a step.",
       .action =
           "Use twice as many micro-batches, or a schedule with smaller bubbles (1F1B, "
           "interleaved stages, zero bubble); move layers from the stage that computes longest.",
       .gain_ns = sent_ns * kBubbleGain,
       .uncertainty_ns = sent_ns * kBubbleUncertainty,
       .evidence = CommunicationKernels(run, true)});
}

void ExposedCommunication(const RunMeasures& run, Findings* findings) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr || gpu->window.mean <= 0) return;
  const Exposed exposed = ExposedOf(run);
  if (exposed.own_ns() < kExposedCommunication * gpu->window.mean) return;
  std::vector<Evidence> kernels = CommunicationKernels(run, false);
  const Summing summing = SummingOf(run, kernels);
  findings->push_back(
      {.title = "Communication is not hidden behind computing",
       .seen = "NCCL runs alone for " + TimeOf(exposed.all_ns) + " of a step (" +
               PercentOf(exposed.all_ns / gpu->window.mean) + ")" +
               (exposed.waited_ns > 0
                    ? ", of which it waits " + TimeOf(exposed.waited_ns) + " for other ranks"
                    : "") +
               "; " + TimeOf(gpu->overlapped_communication_ns) + " more is hidden.",
       .why = "Gradients can be reduced while backward still computes; what comes after it waits.",
       .action = HideAction(summing),
       .gain_ns = exposed.own_ns() * kCommunicationGain,
       .uncertainty_ns = exposed.own_ns() * kCommunicationUncertainty,
       .evidence = std::move(kernels),
       .patch = HidePatch(summing)});
}

}  // namespace batchlight::advice
