#include "analysis/ranks/collectives.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/cuda/kernel_class.h"
#include "analysis/ranks/call_numbers.h"
#include "analysis/ranks/collective_names.h"
#include "analysis/ranks/late/lateness.h"
#include "analysis/ranks/nccl_calls.h"
#include "analysis/ranks/rank_calls.h"
#include "analysis/ranks/same_calls.h"
#include "analysis/steps/step_clock.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

// One call on one rank.
struct CollectiveCall {
  uint32_t process;
  uint64_t communicator;
  std::string_view operation;
  uint64_t bytes;
  int64_t start_ns;
  int64_t kernel_ns = 0;            // 0: unknown
  size_t step = StepLookup::kNone;  // row of the steps of the process
  size_t bin = 0;                   // one after the last: in no step
  bool steady = false;
};

std::vector<FirstNumbers> FirstNumbersOf(const Store& store, const NcclCalls& nccl,
                                         const StepSet& steps) {
  const std::vector<RankCalls> calls = CollectRankCalls(store, nccl, steps);
  std::vector<const RankCalls*> ranks;
  for (const RankCalls& rank : calls) ranks.push_back(&rank);
  return NumberCalls(ranks, {});
}

class Analysis {
 public:
  Analysis(const Store& store, const StepSet& steps, const StepSet& loop, const Attribution& work,
           const std::vector<uint32_t>& bin_starts)
      : store_(store),
        steps_(steps),
        clock_(store, steps),
        work_(work),
        bin_starts_(bin_starts),
        nccl_(FindNcclCalls(store)),
        numbers_(NumberCommunicators(nccl_)),
        first_(FirstNumbersOf(store, nccl_, loop)) {}

  void Run(Distributed& found) {
    FindCalls();
    AddKernels();
    Match();
    for (auto& [key, row] : rows_) {
      row.ranks = RanksOf(std::get<0>(key));
      row.calls_per_step = clock_.PerStep(row.calls_per_step);
      found.collectives.push_back(row);
    }
    std::stable_sort(
        found.collectives.begin(), found.collectives.end(),
        [](const auto& a, const auto& b) { return a.times.kernel_ns > b.times.kernel_ns; });
  }

  // In every step of one process.
  std::vector<int64_t> WaitedInSteps(const ProcessSteps& process) const {
    std::vector<int64_t> waited(process.steps.size());
    const auto found = waited_.find(process.process.value);
    if (found == waited_.end()) return waited;
    for (const auto& [step, ns] : found->second) waited[step] = ns;
    return waited;
  }
  bool knows_waits() const { return knows_waits_; }

 private:
  void FindCalls() {
    const NvtxRangesTable& ranges = store_.nvtx_ranges;
    for (const NcclCall& call : nccl_.calls) {
      calls_.push_back(
          {.process = call.process.value,
           .communicator = call.communicator,
           .operation = call.operation,
           .bytes = call.bytes,
           .start_ns = ranges.start_ns[call.range],
           .steady = clock_.IsSteady(ranges.thread[call.range], ranges.start_ns[call.range])});
      SetStep(calls_.back(), call.process);
    }
  }

  void SetStep(CollectiveCall& call, ProcessId process) const {
    const ProcessSteps* steps = steps_.Of(process);
    if (steps != nullptr) call.step = StepLookup::Around(steps->steps, call.start_ns);
    call.bin = bin_starts_.size();
    if (call.step == StepLookup::kNone) return;
    const auto after = std::upper_bound(bin_starts_.begin(), bin_starts_.end(), call.step);
    if (after != bin_starts_.begin()) {
      call.bin = static_cast<size_t>(after - bin_starts_.begin()) - 1;
    }
  }

  void AddKernels() {
    const KernelsTable& kernels = store_.kernels;
    for (size_t row = 0; row < work_.kernels.size(); ++row) {
      const NvtxRangeId range = work_.kernels[row].range;
      if (range.IsNone() || nccl_.call_of_range[range.row()] == NcclCalls::kNone) continue;
      if (!IsNcclKernel(store_.Text(kernels.short_name[row]))) continue;
      calls_[nccl_.call_of_range[range.row()]].kernel_ns +=
          kernels.end_ns[row] - kernels.start_ns[row];
    }
  }

  void Match() {
    std::map<uint64_t, std::map<uint32_t, std::vector<const CollectiveCall*>>> sequences;
    std::vector<const CollectiveCall*> ordered;
    for (const CollectiveCall& call : calls_) ordered.push_back(&call);
    std::stable_sort(
        ordered.begin(), ordered.end(),
        [](const CollectiveCall* a, const CollectiveCall* b) { return a->start_ns < b->start_ns; });
    for (const CollectiveCall* call : ordered)
      sequences[call->communicator][call->process].push_back(call);
    for (const auto& [communicator, ranks] : sequences) {
      size_t end = 0;
      for (const auto& [process, calls] : ranks) {
        end = std::max(end, FirstNumber(process, communicator) + calls.size());
      }
      for (size_t number = 0; number < end; ++number) MatchOne(communicator, ranks, number);
    }
  }

  size_t FirstNumber(uint32_t process, uint64_t communicator) const {
    if (process >= first_.size()) return 0;
    const auto number = first_[process].find(communicator);
    return number == first_[process].end() ? 0 : number->second;
  }

  void MatchOne(uint64_t communicator,
                const std::map<uint32_t, std::vector<const CollectiveCall*>>& ranks,
                size_t number) {
    std::vector<const CollectiveCall*> same;
    for (const auto& [process, calls] : ranks) {
      const size_t first = FirstNumber(process, communicator);
      if (number < first || number - first >= calls.size()) continue;
      const CollectiveCall* call = calls[number - first];
      // Calls that differ are not the same: something was not recorded.
      const bool fits =
          same.empty() || (call->operation == same[0]->operation && call->bytes == same[0]->bytes);
      if (fits)
        same.push_back(call);
      else
        AddGroup({call});
    }
    if (!same.empty()) AddGroup(same);
  }

  void AddGroup(const std::vector<const CollectiveCall*>& same) {
    int64_t shortest = INT64_MAX;
    size_t timed = 0;
    for (const CollectiveCall* call : same) {
      if (call->kernel_ns == 0) continue;
      ++timed;
      shortest = std::min(shortest, call->kernel_ns);
    }
    const CollectiveCall& first = *same.front();
    CollectiveRow& row = rows_[{first.communicator, first.operation, first.bytes}];
    row.operation = first.operation;
    row.communicator = numbers_.at(first.communicator);
    row.message_bytes = first.bytes;
    row.bins.resize(bin_starts_.size() + 1);
    for (const CollectiveCall* call : same) {
      row.calls_per_step += call->steady ? 1 : 0;
      const int64_t waited_ns = call->kernel_ns == 0 ? 0 : call->kernel_ns - shortest;
      for (CollectiveTimes* times : TimesOf(row, *call)) {
        ++times->calls;
        times->timed += call->kernel_ns == 0 ? 0 : 1;
        times->kernel_ns += call->kernel_ns;
        times->waited_ns += waited_ns;
      }
      if (call->step != StepLookup::kNone) waited_[call->process][call->step] += waited_ns;
    }
    if (shortest == INT64_MAX) return;
    for (CollectiveTimes* times : TimesOf(row, first)) {
      times->shortest_ns += shortest;
      ++times->matched;
    }
    row.knows_waits |= timed > 1;
    knows_waits_ |= timed > 1;
  }

  // The sums that a call is part of.
  static std::vector<CollectiveTimes*> TimesOf(CollectiveRow& row, const CollectiveCall& call) {
    std::vector<CollectiveTimes*> sums{&row.times, &row.bins[call.bin]};
    if (call.steady) sums.push_back(&row.steady);
    return sums;
  }

  uint32_t RanksOf(uint64_t communicator) const {
    const auto found = nccl_.communicators.find(communicator);
    return found == nccl_.communicators.end() ? 0 : found->second.size();
  }

  const Store& store_;
  const StepSet& steps_;
  StepClock clock_;
  const Attribution& work_;
  const std::vector<uint32_t>& bin_starts_;
  const NcclCalls nccl_;
  const std::map<uint64_t, uint32_t> numbers_;  // of communicators
  const std::vector<FirstNumbers> first_;       // by row of `processes`
  std::vector<CollectiveCall> calls_;
  std::map<std::tuple<uint64_t, std::string_view, uint64_t>, CollectiveRow> rows_;
  std::map<uint32_t, std::map<size_t, int64_t>> waited_;  // process, step
  bool knows_waits_ = false;
};

RankRow MakeRank(const ProcessSteps& process, const std::vector<GpuBreakdown>& breakdowns) {
  RankRow row{.process = process.process, .rank = process.rank, .step_ns = process.duration.mean};
  for (const GpuBreakdown& gpu : breakdowns) {
    if (gpu.process != process.process || row.has_gpu) continue;
    row.has_gpu = true;
    row.device = gpu.device;
    row.has_windows = gpu.window.count > 0;
    for (size_t i = 0; i < kGpuPartCount; ++i) {
      double* const columns[] = {&row.compute_ns, &row.exposed_communication_ns, &row.copies_ns,
                                 &row.idle_ns};  // by GpuPartGroup
      *columns[static_cast<size_t>(GroupOf(static_cast<GpuPart>(i)))] += gpu.steady[i].mean;
    }
    row.hidden_communication_ns = gpu.overlapped_communication_ns;
  }
  return row;
}

// In few steps everything may be chance: then only the waiting of the whole run can tell.
std::optional<Straggler> StragglerOf(const Distributed& found) {
  if (found.late) return Straggler{found.late->rank, found.late->waited_ns};
  constexpr size_t kFewSteps = 8;
  std::vector<RankWait> waits;
  for (const RankRow& rank : found.ranks) {
    if (rank.waited_in_step.size() >= kFewSteps) return std::nullopt;
    waits.push_back({rank.waited_ns, rank.step_ns});
  }
  return FindStraggler(waits);
}

// All ranks send to all, so that the message is a part of the whole.
bool IsOfOneRank(std::string_view operation) {
  if (operation == "Gather" || operation == "Scatter") return false;
  return CollectsOutput(operation) || DividesInput(operation);
}

}  // namespace

double CollectiveRow::size_bytes() const {
  return double(message_bytes) * (IsOfOneRank(operation) ? double(std::max(1u, ranks)) : 1);
}

double CollectiveRow::bus_factor() const {
  const double n = std::max(1u, ranks);
  if (operation == "AllReduce") return 2 * (n - 1) / n;
  return IsOfOneRank(operation) ? (n - 1) / n : 1;
}

Distributed AnalyzeDistributed(const Store& store, const StepSet& steps, const StepSet& loop,
                               const Attribution& work, const std::vector<GpuBreakdown>& breakdowns,
                               const std::vector<uint32_t>& bin_starts) {
  Distributed found;
  Analysis analysis(store, steps, loop, work, bin_starts);
  analysis.Run(found);
  if (steps.processes.size() < 2) return found;
  for (const ProcessSteps& process : steps.processes) {
    RankRow row = MakeRank(process, breakdowns);
    row.knows_waits = analysis.knows_waits();
    row.waited_in_step = analysis.WaitedInSteps(process);
    int64_t waited_ns = 0;
    for (const uint32_t step : process.steady) waited_ns += row.waited_in_step[step];
    if (!process.steady.empty()) row.waited_ns = double(waited_ns) / double(process.steady.size());
    found.ranks.push_back(row);
  }
  found.common = FindCommonSteps(steps);
  if (!analysis.knows_waits()) return found;
  found.late = FindLateRankOfRun(store, steps, found.common);
  found.straggler = StragglerOf(found);
  return found;
}

}  // namespace batchlight
