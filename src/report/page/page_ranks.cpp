#include "report/page/page_ranks.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/page/page_gpu.h"
#include "report/text/number_text.h"

namespace batchlight {
namespace {

using nlohmann::json;

std::string Verdict(const Distributed& found) {
  if (found.straggler >= 0) {
    const RankRow& rank = found.ranks[static_cast<size_t>(found.straggler)];
    return "The others wait " + TimeText(found.straggler_ns) + " per step for rank " +
           std::to_string(rank.rank) + ", " +
           PercentText(found.straggler_ns / std::max(1.0, rank.step_ns)) + " of a step.";
  }
  if (found.ranks.empty()) return "";
  const bool waits = std::any_of(found.collectives.begin(), found.collectives.end(),
                                 [](const CollectiveRow& row) { return row.knows_waits; });
  return waits ? "No straggler: the ranks wait for each other in turn."
               : "Who waits for whom cannot be told: no NCCL call of several ranks was "
                 "recorded (-t cuda,nvtx,nccl).";
}

const GpuBreakdown* BreakdownOf(const RunOverview& overview, const RankRow& rank) {
  for (const GpuBreakdown& gpu : overview.gpu.breakdowns) {
    if (gpu.process == rank.process && gpu.device == rank.device) return &gpu;
  }
  return nullptr;
}

// Sums over the steps of one bin, in the columns of the table of ranks.
struct RankSums {
  int64_t step_ns = 0;
  int64_t windows = 0;       // steps with a window on the GPU
  int64_t group_ns[4] = {};  // by GpuPartGroup
  int64_t hidden_ns = 0;
  int64_t waited_ns = 0;

  int64_t Of(GpuPartGroup group) const { return group_ns[static_cast<size_t>(group)]; }

  void Add(const GpuStepParts& step) {
    if (step.duration_ns() == 0) return;
    ++windows;
    hidden_ns += step.hidden_communication_ns;
    for (size_t i = 0; i < kGpuPartCount; ++i) {
      group_ns[static_cast<size_t>(GroupOf(static_cast<GpuPart>(i)))] += step.part_ns[i];
    }
  }
};

json RankOfBins(const RunOverview& overview, const RankRow& rank) {
  const ProcessSteps& process = *overview.steps.Of(rank.process);
  const GpuBreakdown* gpu = rank.has_gpu ? BreakdownOf(overview, rank) : nullptr;
  const std::vector<BinSteps> bins = StepsOfBins(BinStarts(overview.tree.bins), process);
  json out = PageBins(bins);
  for (const BinSteps& bin : bins) {
    RankSums sum;
    for (const uint32_t row : bin.rows) {
      sum.step_ns += process.steps[row].duration_ns();
      sum.waited_ns += rank.waited_in_step[row];
      if (gpu != nullptr) sum.Add(gpu->steps[row]);
    }
    out["step_ns"].push_back(sum.step_ns);
    out["windows"].push_back(sum.windows);
    out["compute_ns"].push_back(sum.Of(GpuPartGroup::kComputing));
    out["communication_ns"].push_back(sum.Of(GpuPartGroup::kCommunication));
    out["hidden_ns"].push_back(sum.hidden_ns);
    out["copies_ns"].push_back(sum.Of(GpuPartGroup::kCopies));
    out["idle_ns"].push_back(sum.Of(GpuPartGroup::kIdle));
    out["waited_ns"].push_back(sum.waited_ns);
  }
  return out;
}

// What lies in no step (the last of the row's bins) is in no selection.
json CollectiveOfBins(const CollectiveRow& row) {
  json out = {{"size_bytes", row.size_bytes()},
              {"bus_factor", row.bus_factor()},
              {"knows_waits", row.knows_waits}};
  for (size_t bin = 0; bin + 1 < row.bins.size(); ++bin) {
    const CollectiveTimes& times = row.bins[bin];
    out["calls"].push_back(times.calls);
    out["timed"].push_back(times.timed);
    out["matched"].push_back(times.matched);
    out["kernel_ns"].push_back(times.kernel_ns);
    out["waited_ns"].push_back(times.waited_ns);
    out["shortest_ns"].push_back(times.shortest_ns);
  }
  return out;
}

// Of all ranks together: whether the steps of the first one count, and all steps.
json BinsOfRanks(const RunOverview& overview) {
  const std::vector<uint32_t> starts = BinStarts(overview.tree.bins);
  const std::vector<ProcessSteps>& processes = overview.steps.processes;
  json out = PageBins(StepsOfBins(starts, processes.front()));
  for (size_t bin = 0; bin < starts.size(); ++bin) {
    size_t steps = 0;
    for (const ProcessSteps& process : processes) {
      const size_t count = process.steps.size();
      const size_t end = bin + 1 < starts.size() ? std::min<size_t>(starts[bin + 1], count) : count;
      steps += std::max<size_t>(end, starts[bin]) - starts[bin];
    }
    out["steps"][bin] = steps;
  }
  return out;
}

}  // namespace

json PageDistributed(const RunOverview& overview) {
  constexpr size_t kMostCollectives = 50;
  const Distributed& found = overview.distributed;
  if (found.ranks.empty() && found.collectives.empty()) return nullptr;
  json out = {
      {"verdict", Verdict(found)}, {"ranks", json::array()}, {"collectives", json::array()}};
  if (overview.tree.bins.empty()) return out;
  out["bins"] = BinsOfRanks(overview);
  for (const RankRow& rank : found.ranks) out["ranks"].push_back(RankOfBins(overview, rank));
  for (const CollectiveRow& row : found.collectives) {
    if (out["collectives"].size() == kMostCollectives) break;
    out["collectives"].push_back(CollectiveOfBins(row));
  }
  return out;
}

}  // namespace batchlight
