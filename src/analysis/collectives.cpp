#include "analysis/collectives.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/nccl_calls.h"
#include "analysis/step_clock.h"

namespace batchlight {
namespace {

// One call on one rank.
struct Call {
  uint32_t process;
  uint64_t communicator;
  std::string_view operation;
  uint64_t bytes;
  int64_t start_ns;
  int64_t kernel_ns = 0;  // 0: unknown
  bool steady = false;
};

class Analysis {
 public:
  Analysis(const Store& store, const StepSet& steps, const Attribution& work)
      : store_(store), clock_(store, steps), work_(work), nccl_(FindNcclCalls(store)) {}

  void Run(Distributed& found) {
    FindCalls();
    AddKernels();
    Match();
    for (auto& [key, row] : rows_) {
      row.ranks = RanksOf(std::get<0>(key));
      row.calls_per_step = clock_.PerStep(row.calls_per_step);
      found.collectives.push_back(row);
    }
    std::stable_sort(found.collectives.begin(), found.collectives.end(),
                     [](const auto& a, const auto& b) { return a.kernel_ns > b.kernel_ns; });
  }

  // In steps that count, of one process.
  int64_t WaitedNs(ProcessId process) const {
    const auto waited = waited_.find(process.value);
    return waited == waited_.end() ? 0 : waited->second;
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
    }
  }

  void AddKernels() {
    const KernelsTable& kernels = store_.kernels;
    for (size_t row = 0; row < work_.kernels.size(); ++row) {
      const NvtxRangeId range = work_.kernels[row].range;
      if (range.IsNone() || nccl_.call_of_range[range.row()] == NcclCalls::kNone) continue;
      if (!store_.Text(kernels.short_name[row]).starts_with("nccl")) continue;
      calls_[nccl_.call_of_range[range.row()]].kernel_ns +=
          kernels.end_ns[row] - kernels.start_ns[row];
    }
  }

  // The n-th call on a communicator is the same one on every rank.
  void Match() {
    std::map<uint64_t, std::map<uint32_t, std::vector<const Call*>>> sequences;
    std::vector<const Call*> ordered;
    for (const Call& call : calls_) ordered.push_back(&call);
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const Call* a, const Call* b) { return a->start_ns < b->start_ns; });
    for (const Call* call : ordered) sequences[call->communicator][call->process].push_back(call);
    for (const auto& [communicator, ranks] : sequences) {
      size_t longest = 0;
      for (const auto& [process, calls] : ranks) longest = std::max(longest, calls.size());
      for (size_t i = 0; i < longest; ++i) MatchOne(ranks, i);
    }
  }

  void MatchOne(const std::map<uint32_t, std::vector<const Call*>>& ranks, size_t i) {
    std::vector<const Call*> same;
    for (const auto& [process, calls] : ranks) {
      if (i >= calls.size()) continue;
      const Call* call = calls[i];
      // Calls that differ are not the same: something was not recorded.
      const bool fits =
          same.empty() || (call->operation == same[0]->operation && call->bytes == same[0]->bytes);
      if (fits)
        same.push_back(call);
      else
        AddGroup({call});
    }
    AddGroup(same);
  }

  void AddGroup(const std::vector<const Call*>& same) {
    int64_t shortest = INT64_MAX;
    for (const Call* call : same) {
      if (call->kernel_ns > 0) shortest = std::min(shortest, call->kernel_ns);
    }
    const Call& first = *same.front();
    CollectiveRow& row = rows_[{first.communicator, first.operation, first.bytes}];
    row.operation = first.operation;
    row.communicator = NumberOf(first.communicator);
    row.message_bytes = first.bytes;
    for (const Call* call : same) {
      ++row.calls;
      row.calls_per_step += call->steady ? 1 : 0;
      if (call->kernel_ns == 0) continue;
      ++row.timed;
      row.kernel_ns += call->kernel_ns;
      row.waited_ns += call->kernel_ns - shortest;
      if (call->steady) waited_[call->process] += call->kernel_ns - shortest;
    }
    if (shortest == INT64_MAX) return;
    row.shortest_ns += shortest;
    ++row.matched;
    row.knows_waits |= same.size() > 1;
    knows_waits_ |= same.size() > 1;
  }

  uint32_t NumberOf(uint64_t communicator) {
    return numbers_.try_emplace(communicator, uint32_t(numbers_.size())).first->second;
  }
  uint32_t RanksOf(uint64_t communicator) const {
    const auto found = nccl_.communicators.find(communicator);
    return found == nccl_.communicators.end() ? 0 : found->second.size();
  }

  const Store& store_;
  StepClock clock_;
  const Attribution& work_;
  const NcclCalls nccl_;
  std::vector<Call> calls_;
  std::map<std::tuple<uint64_t, std::string_view, uint64_t>, CollectiveRow> rows_;
  std::map<uint64_t, uint32_t> numbers_;
  std::map<uint32_t, int64_t> waited_;
  bool knows_waits_ = false;
};

RankRow MakeRank(const ProcessSteps& process, const std::vector<GpuBreakdown>& breakdowns) {
  RankRow row{.process = process.process, .rank = process.rank, .step_ns = process.duration.mean};
  for (const GpuBreakdown& gpu : breakdowns) {
    if (gpu.process != process.process || row.has_gpu) continue;
    row.has_gpu = true;
    row.device = gpu.device;
    for (size_t i = 0; i < kGpuPartCount; ++i) {
      const auto part = static_cast<GpuPart>(i);
      const double ns = gpu.steady[i].mean;
      if (part == GpuPart::kTensorCore || part == GpuPart::kCompute) row.compute_ns += ns;
      if (part == GpuPart::kCommunication) row.exposed_communication_ns += ns;
      if (part == GpuPart::kCopy || part == GpuPart::kMemset) row.copies_ns += ns;
      if (IsIdle(part)) row.idle_ns += ns;
    }
    row.hidden_communication_ns = gpu.overlapped_communication_ns;
  }
  return row;
}

// The rank for which the others wait: it waits less than a third of what they do on average, and
// that is at least 2 % of a step.
void FindStraggler(Distributed& found) {
  if (found.ranks.size() < 2) return;
  const auto least =
      std::min_element(found.ranks.begin(), found.ranks.end(),
                       [](const auto& a, const auto& b) { return a.waited_ns < b.waited_ns; });
  double others = 0;
  for (const RankRow& rank : found.ranks) others += rank.waited_ns;
  others = (others - least->waited_ns) / double(found.ranks.size() - 1);
  if (least->waited_ns * 3 > others || others < 0.02 * least->step_ns) return;
  found.straggler = static_cast<int32_t>(least - found.ranks.begin());
  found.straggler_ns = others - least->waited_ns;
}

}  // namespace

double CollectiveRow::size_bytes() const {
  const bool of_one_rank = operation == "AllGather" || operation == "ReduceScatter" ||
                           operation == "AlltoAll" || operation == "AllToAll";
  return double(message_bytes) * (of_one_rank ? double(std::max(1u, ranks)) : 1);
}

double CollectiveRow::algorithm_bytes_per_second() const {
  return shortest_ns <= 0 ? 0 : size_bytes() * double(matched) * 1e9 / double(shortest_ns);
}

double CollectiveRow::bus_bytes_per_second() const {
  const double n = std::max(1u, ranks);
  double factor = 1;
  if (operation == "AllReduce") factor = 2 * (n - 1) / n;
  if (operation == "AllGather" || operation == "ReduceScatter" || operation == "AlltoAll" ||
      operation == "AllToAll") {
    factor = (n - 1) / n;
  }
  return algorithm_bytes_per_second() * factor;
}

Distributed AnalyzeDistributed(const Store& store, const StepSet& steps, const Attribution& work,
                               const std::vector<GpuBreakdown>& breakdowns) {
  Distributed found;
  Analysis analysis(store, steps, work);
  analysis.Run(found);
  if (steps.processes.size() < 2) return found;
  for (const ProcessSteps& process : steps.processes) {
    RankRow row = MakeRank(process, breakdowns);
    row.waited_ns = process.steady.empty() ? 0
                                           : double(analysis.WaitedNs(process.process)) /
                                                 double(process.steady.size());
    found.ranks.push_back(row);
  }
  if (analysis.knows_waits()) FindStraggler(found);
  return found;
}

}  // namespace batchlight
