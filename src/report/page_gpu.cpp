#include "report/page_gpu.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/number_text.h"
#include "report/utf8.h"

namespace batchlight {
namespace {

using nlohmann::json;

// "GPU 0 (NVIDIA H200)"; with several training processes the rank or the pid too.
std::string GpuLabel(const RunOverview& overview, ProcessId process, uint32_t device) {
  std::string label = "GPU " + std::to_string(device);
  const GpusTable& gpus = overview.store->gpus;
  for (size_t row = 0; row < gpus.size(); ++row) {
    if (gpus.device[row] != device) continue;
    label += " (" + CleanText(overview.store->Text(gpus.name[row])) + ")";
    break;
  }
  if (overview.session.processes.size() < 2 || process.IsNone()) return label;
  const ProcessesTable& processes = overview.store->processes;
  const int32_t rank = processes.rank[process.row()];
  if (rank >= 0) return label + ", rank " + std::to_string(rank);
  return label + ", pid " + std::to_string(processes.pid[process.row()]);
}

json Metric(const char* label, const std::string& value, const std::string& formula) {
  return {{"label", label}, {"value", value}, {"formula", formula}};
}

json Metrics(const GpuUtilization& use) {
  json metrics = json::array();
  metrics.push_back(Metric("GPU utilization", PercentText(use.busy),
                           "time with at least one kernel / time of the steps"));
  if (use.knows_gpu) {
    metrics.push_back(Metric("Estimated SM efficiency", PercentText(use.sm_efficiency),
                             "sum of min(blocks / SMs, 1) × kernel time / time of the steps"));
    metrics.push_back(
        Metric("Estimated achieved occupancy", PercentText(use.occupancy),
               "min(threads / SMs / threads an SM holds, theoretical occupancy), mean weighted by "
               "kernel time"));
  }
  metrics.push_back(Metric("Tensor Core kernels", PercentText(use.tensor_core_share),
                           "time of kernels on Tensor Cores, by their names / kernel time"));
  return metrics;
}

// What the memory was first needed for, in the same points; categories that hold nothing are left
// out.
json Layers(const MemoryCurve& curve) {
  json layers = json::array();
  for (size_t i = 0; i < kMemoryCategoryCount; ++i) {
    json bytes = json::array();
    uint64_t at_peak = 0;
    uint64_t most = 0;
    for (const MemoryPoint& point : curve.points) {
      bytes.push_back(point.of_category[i]);
      most = std::max(most, point.of_category[i]);
      if (point.time_ns == curve.peak_ns) at_peak = std::max(at_peak, point.of_category[i]);
    }
    if (most == 0) continue;
    const auto category = static_cast<MemoryCategory>(i);
    layers.push_back({{"name", MemoryCategoryName(category)},
                      {"rule", MemoryCategoryRule(category)},
                      {"at_peak", at_peak},
                      {"bytes", std::move(bytes)}});
  }
  return layers;
}

json Holders(const MemoryCurve& curve) {
  constexpr size_t kMost = 20;
  json holders = json::array();
  for (const PeakHolder& holder : curve.at_peak) {
    if (holders.size() == kMost) break;
    holders.push_back({{"category", MemoryCategoryName(holder.category)},
                       {"place", ElideMiddle(CleanText(holder.place), 200)},
                       {"blocks", holder.blocks},
                       {"bytes", holder.bytes}});
  }
  return holders;
}

json Curve(const RunOverview& overview, const MemoryCurve& curve) {
  json times = json::array();
  json bytes = json::array();
  for (const MemoryPoint& point : curve.points) {
    times.push_back(point.time_ns);
    bytes.push_back(point.bytes);
  }
  return {
      {"title", GpuLabel(overview, curve.process, curve.device) + ", " + curve.kind + " memory"},
      {"peak_bytes", curve.peak_bytes},
      {"peak_ns", curve.peak_ns},
      {"allocations", curve.allocations},
      {"time_ns", std::move(times)},
      {"bytes", std::move(bytes)},
      {"layers", Layers(curve)},
      {"holders", Holders(curve)}};
}

json Queue(const RunOverview& overview, const LaunchQueue& queue) {
  const ProcessSteps* steps = overview.steps.Of(queue.process);
  const Step& step = steps->steps[queue.shown_step];
  json times = json::array();
  json depths = json::array();
  for (const QueuePoint& point : queue.curve) {
    times.push_back(point.time_ns - step.start_ns);
    depths.push_back(point.depth);
  }
  json metrics = json::array();
  metrics.push_back(Metric("Launch to start, median", TimeText(double(queue.latency.median)),
                           "start on the GPU − begin of the launching call"));
  metrics.push_back(Metric("Launch to start, p95", TimeText(double(queue.latency.p95)),
                           "19 of 20 launches start sooner"));
  metrics.push_back(Metric("Queue empty", PercentText(queue.empty),
                           "time in which nothing launched waits to start / time of the steps"));
  metrics.push_back(
      Metric("Mean depth", SignificantText(queue.mean_depth),
             "launched and not started, mean over time; at most " + CountText(queue.most)));
  return {{"title", GpuLabel(overview, queue.process, queue.device)},
          {"step", step.number},
          {"metrics", std::move(metrics)},
          {"time_ns", std::move(times)},
          {"depth", std::move(depths)}};
}

}  // namespace

json PageDistributed(const RunOverview& overview) {
  const Distributed& found = overview.distributed;
  if (found.ranks.empty() && found.collectives.empty()) return nullptr;
  std::string verdict;
  if (found.straggler >= 0) {
    const RankRow& rank = found.ranks[static_cast<size_t>(found.straggler)];
    verdict = "The others wait " + TimeText(found.straggler_ns) + " per step for rank " +
              std::to_string(rank.rank) + ", " +
              PercentText(found.straggler_ns / std::max(1.0, rank.step_ns)) + " of a step.";
  } else if (!found.ranks.empty()) {
    const bool waits = std::any_of(found.collectives.begin(), found.collectives.end(),
                                   [](const CollectiveRow& row) { return row.knows_waits; });
    verdict = waits ? "No straggler: the ranks wait for each other in turn."
                    : "Who waits for whom cannot be told: no NCCL call of several ranks was "
                      "recorded (-t cuda,nvtx,nccl).";
  }
  return {{"verdict", verdict}};
}

json PageGpu(const RunOverview& overview, const std::vector<GpuUtilization>& utilization,
             const std::vector<MemoryCurve>& memory) {
  json gpu = {{"worked", !overview.gpu.empty()},
              {"utilization", json::array()},
              {"memory", json::array()},
              {"queues", json::array()}};
  for (const GpuUtilization& use : utilization) {
    if (use.time_ns == 0) continue;
    gpu["utilization"].push_back(
        {{"title", GpuLabel(overview, use.process, use.device)}, {"metrics", Metrics(use)}});
  }
  for (const MemoryCurve& curve : memory) gpu["memory"].push_back(Curve(overview, curve));
  for (const LaunchQueue& queue : overview.queues) {
    if (!queue.curve.empty()) gpu["queues"].push_back(Queue(overview, queue));
  }
  return gpu;
}

}  // namespace batchlight
