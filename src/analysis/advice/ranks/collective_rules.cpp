// Collectives: those that the loop starts itself, one for each tensor, and those that do not end.
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/desync/desync_sentence.h"
#include "analysis/desync/recorded_calls.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

struct OwnSums {
  uint64_t count = 0;
  int64_t ns = 0;  // from the first in a row to the end of the last, waiting and dividing too
};

struct Start {
  int64_t ns = 0;
  bool is_backward = false;
};

// When the main thread calls a module, goes backward, steps.
std::vector<Start> StartsOfWork(const RunMeasures& run, ThreadId thread) {
  std::vector<Start> starts;
  const ModuleCallsTable& modules = run.store->module_calls;
  const ThreadSpans::Rows calls = ThreadSpans(modules.thread).Of(thread);
  for (uint32_t row = calls.begin; row < calls.end; ++row)
    starts.push_back({modules.start_ns[row]});
  const PhaseCallsTable& phases = run.store->phase_calls;
  const ThreadSpans::Rows rows = ThreadSpans(phases.thread).Of(thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const Phase phase = phases.phase[row];
    if (phase == Phase::kBackward || phase == Phase::kOptimizerStep) {
      starts.push_back({phases.start_ns[row], phase == Phase::kBackward});
    }
  }
  std::stable_sort(starts.begin(), starts.end(),
                   [](const Start& a, const Start& b) { return a.ns < b.ns; });
  return starts;
}

// What the main thread sums up over ranks itself between a backward and whatever it does next. Not
// what backward does (DistributedDataParallel's buckets, on the CPU by the same thread), nor a
// forward (tensors that ranks share), nor an optimizer.
OwnSums SumsInSteps(const RunMeasures& run, const ProcessSteps& main) {
  const OperatorCallsTable& operators = run.store->operator_calls;
  const PhaseCallsTable& phases = run.store->phase_calls;
  const std::vector<Start> starts = StartsOfWork(run, main.thread);
  const ThreadSpans::Rows calls = ThreadSpans(operators.thread).Of(main.thread);
  const ThreadSpans::Rows of_phases = ThreadSpans(phases.thread).Of(main.thread);
  StepLookup lookup(&main);
  uint32_t phase = of_phases.begin;
  size_t next = 0;  // of the starts: the first behind the sum
  int64_t backward_until_ns = 0, last_end_ns = 0;
  OwnSums sums;
  for (uint32_t row = calls.begin; row < calls.end; ++row) {
    if (run.store->Text(operators.name[row]) != "c10d::allreduce_") continue;
    const int64_t start_ns = operators.start_ns[row], end_ns = operators.end_ns[row];
    for (; phase < of_phases.end && phases.start_ns[phase] <= start_ns; ++phase) {
      if (phases.phase[phase] != Phase::kBackward) continue;
      backward_until_ns = std::max(backward_until_ns, phases.end_ns[phase]);
    }
    while (next < starts.size() && starts[next].ns <= start_ns) ++next;
    if (next == 0 || !starts[next - 1].is_backward || start_ns < backward_until_ns) continue;
    if (end_ns == kOpenEnd || start_ns < last_end_ns || !lookup.IsSteadyAt(start_ns)) continue;
    ++sums.count;
    const bool goes_on = last_end_ns > starts[next - 1].ns;
    sums.ns += end_ns - (goes_on ? last_end_ns : start_ns);
    last_end_ns = end_ns;
  }
  return sums;
}

}  // namespace

void SmallCollectives(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || main->thread.IsNone() || main->steady.empty() || step_ns <= 0) return;
  const OwnSums sums = SumsInSteps(run, *main);
  const auto steps = double(main->steady.size());
  const double count = double(sums.count) / steps, sum_ns = double(sums.ns) / steps;
  if (count < kSmallCollectives || sum_ns < kOwnSums * step_ns) return;
  const double exposed_ns = sum_ns * CpuExposure(run);
  const double gain_ns = exposed_ns * kSmallCollectivesGain;
  if (!CanBeSeen(run, gain_ns)) return;
  findings->push_back(
      {.title = "Ranks sum up tensor by tensor: " + Rounded(count) + " all-reduces a step",
       .seen = "The loop itself starts " + Rounded(count) +
               " all-reduces a step, one behind the other; from the first to the last it is " +
               TimeOf(sum_ns) + " (" + PercentOf(sum_ns / step_ns) + ").",
       .why =
           "Each costs a launch and a message of its own, whatever its size, and none runs while "
           "backward computes.",
       .action = "Wrap the model in DistributedDataParallel, which sums up in buckets beside "
                 "backward; or put all gradients into one tensor and reduce that "
                 "(torch.cat, or torch._utils._flatten_dense_tensors).",
       .gain_ns = gain_ns,
       .uncertainty_ns = exposed_ns * kSmallCollectivesUncertainty,
       .evidence = {{.kind = "operator",
                     .name = "c10d::allreduce_",
                     .count = static_cast<uint64_t>(count),
                     .per_step_ns = sum_ns}},
       .patch = {.place = "",
                 .diff = "-for p in model.parameters():\n"
                         "-    dist.all_reduce(p.grad)\n"
                         "-    p.grad /= dist.get_world_size()\n"
                         "+model = torch.nn.parallel.DistributedDataParallel(model)\n"}});
}

namespace {

// Up to when the process is known to have run.
int64_t EndOf(const Store& store, size_t process) {
  int64_t end_ns = std::min(store.processes.end_ns[process], store.duration_ns);
  // Of one that still runs the looks from outside go on while it stands.
  const ProcessUsageTable& usage = store.process_usage;
  if (store.processes.end_ns[process] >= store.duration_ns) {
    for (size_t row = 0; row < usage.size(); ++row) {
      if (usage.process[row] == ProcessId::At(process)) {
        end_ns = std::max(end_ns, usage.start_ns[row]);
      }
    }
  }
  return end_ns;
}

// Whether a rank goes on, or has failed: of jobs that came to their end nothing hung.
bool MayHang(const Store& store, const RecordedCalls& calls) {
  return std::any_of(calls.processes.begin(), calls.processes.end(), [&](ProcessId process) {
    return store.processes.exit_code[process.row()] != 0;
  });
}

ProcessId ProcessOfRank(const RecordedCalls& calls, int32_t rank) {
  for (size_t i = 0; i < calls.dumps.size(); ++i) {
    if (calls.dumps[i].rank == rank) return calls.processes[i];
  }
  return {};
}

// The last moment at which one of these ranks was there, ns.
int64_t EndOfRanks(const Store& store, const RecordedCalls& calls,
                   const std::vector<int32_t>& ranks) {
  int64_t end_ns = 0;
  for (const int32_t rank : ranks) {
    end_ns = std::max(end_ns, EndOf(store, ProcessOfRank(calls, rank).row()));
  }
  return end_ns;
}

// " Rank 1 was last seen in `validate`, 41.2 s before."; "" where it recorded nothing.
std::string LastSeen(const Store& store, const RecordedCalls& calls, int32_t rank, int64_t now_ns) {
  const ProcessId of_rank = ProcessOfRank(calls, rank);
  const NvtxRangesTable& ranges = store.nvtx_ranges;
  size_t last = SIZE_MAX;
  for (size_t row = 0; row < ranges.size(); ++row) {
    if (store.ProcessOf(ranges.thread[row]) != of_rank || ranges.start_ns[row] > now_ns) continue;
    if (store.Text(ranges.message[row]).starts_with("nccl")) continue;
    if (last == SIZE_MAX || ranges.start_ns[row] > ranges.start_ns[last]) last = row;
  }
  if (last == SIZE_MAX) return "";
  const bool inside = ranges.end_ns[last] >= now_ns;
  const int64_t since_ns = now_ns - (inside ? ranges.start_ns[last] : ranges.end_ns[last]);
  return " Rank " + std::to_string(rank) + (inside ? " is in `" : " was last seen in `") +
         std::string(store.Text(ranges.message[last])) + "`, " +
         (inside ? "since " + TimeOf(double(since_ns)) : TimeOf(double(since_ns)) + " before") +
         ".";
}

std::string TitleOf(const Desync& found) {
  const bool one = found.others.size() == 1;
  switch (found.kind) {
    case DesyncKind::kMissing:
      return (one ? "Rank " + std::to_string(found.others[0]) + " does"
                  : std::to_string(found.others.size()) + " ranks do") +
             " not come to a collective that the others wait in";
    case DesyncKind::kDiffers:
      return "Ranks call different collectives, and wait for ever";
    case DesyncKind::kUnfinished:
      break;
  }
  return "A collective does not end";
}

std::string ActionOf(const Desync& found) {
  if (found.kind == DesyncKind::kUnfinished) {
    return "Look at the network and the errors of the GPUs (dmesg: Xid; NCCL_DEBUG=INFO).";
  }
  return "Look for a branch that only some ranks take, loaders that give ranks different numbers "
         "of "
         "batches (drop_last, DistributedSampler, join()), work of rank 0 alone (saving, "
         "validating), and exceptions that one rank catches. `py-spy dump --pid` or "
         "--python-sampling=true tells where it is.";
}

}  // namespace

void CollectiveHang(const RunMeasures& run, Findings* findings) {
  const Store& store = *run.store;
  // Of most recordings that is all to be asked; to find the calls all ranges are read.
  const auto& codes = store.processes.exit_code;
  if (std::all_of(codes.begin(), codes.end(), [](int32_t code) { return code == 0; })) return;
  const RecordedCalls calls = LastRecordedCalls(store);
  if (calls.dumps.empty() || !MayHang(store, calls)) return;
  for (const Desync& found : FindDesync(calls.dumps).found) {
    if (found.waiting.empty()) continue;
    const int64_t now_ns = EndOfRanks(store, calls, found.waiting);
    const double waited_ns = double(now_ns - found.since_ns);
    if (waited_ns < std::max(kHangNs, kHangSteps * MeanStepNs(run))) continue;
    Finding& finding = findings->emplace_back();
    finding.rule = "collective-hang";
    finding.title = TitleOf(found);
    finding.seen = DesyncSentence(found) + " They have waited for " + TimeOf(waited_ns) + ".";
    if (!found.others.empty()) finding.seen += LastSeen(store, calls, found.others[0], now_ns);
    finding.why =
        "A collective ends when all ranks of its group have come; until then none of them goes "
        "on.";
    finding.action = ActionOf(found);
    finding.run_gain_ns = waited_ns;
    finding.evidence.push_back({.kind = "call", .name = found.call, .count = found.waiting.size()});
    return;
  }
}

}  // namespace batchlight::advice
