#include "report/page/page_gpu.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/tables/gpu_metrics.h"
#include "analysis/tables/parts_of_rows.h"
#include "report/page/page_columns.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

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

// The entry of the page's `training` that has the steps of this process; -1: there is none.
int TrainingOf(const RunOverview& overview, ProcessId process) {
  const std::vector<ProcessSteps>& all = overview.steps.processes;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].process == process) return int(i);
  }
  return -1;
}

template <typename Row>
json Metrics(const Columns<Row>& metrics, const Row& row) {
  json out = json::array();
  for (const ColumnOf<Row>& metric : metrics) {
    out.push_back(PageMetric(metric.column, metric.value(row)));
  }
  return out;
}

// What the metrics are computed from, per bin of steps, so that the page can add up any bins.
json PartsOfUse(const RunOverview& overview, const GpuUtilization& found) {
  const ProcessSteps* process = overview.steps.Of(found.process);
  if (process == nullptr || overview.tree.bins.empty()) return nullptr;
  const std::vector<BinSteps> bins = StepsOfBins(BinStarts(overview.tree.bins), *process);
  std::vector<GpuUse> sums;
  for (const BinSteps& bin : bins) {
    GpuUse& sum = sums.emplace_back();
    for (const uint32_t row : bin.rows) sum.Add(found.steps[row]);
  }
  return PageParts(bins, PartsOf(sums));
}

// What the memory was first needed for, at the same points; empty categories are left out.
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
    layers.push_back({{"key", MemoryCategoryKey(category)},
                      {"name", MemoryCategoryName(category)},
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

json BinsOf(const MemoryCurve& curve) {
  if (curve.bins.empty()) return nullptr;
  json out;
  for (const MemoryBin& bin : curve.bins) {
    out["from_ns"].push_back(bin.from_ns);
    out["to_ns"].push_back(bin.to_ns);
    out["allocations_before"].push_back(bin.allocations_before);
    out["allocations_until"].push_back(bin.allocations_until);
  }
  return out;
}

json Curve(const RunOverview& overview, const MemoryCurve& curve) {
  json times = json::array();
  json bytes = json::array();
  for (const MemoryPoint& point : curve.points) {
    times.push_back(point.time_ns);
    bytes.push_back(point.bytes);
  }
  return {{"title", GpuLabel(overview, curve.process, curve.device) + ", " +
                        LabelInSentence(curve.kind) + " memory"},
          {"peak_bytes", curve.peak_bytes},
          {"peak_ns", curve.peak_ns},
          {"allocations", curve.allocations},
          {"time_ns", std::move(times)},
          {"bytes", std::move(bytes)},
          {"layers", Layers(curve)},
          {"holders", Holders(curve)},
          {"thinned", curve.thinned},
          {"bins", BinsOf(curve)}};
}

// Launches by latency, per bin of steps. Buckets start at the first one in use, since latencies are
// far from 0.
json LatencyHistogram(const LaunchQueue& queue) {
  const auto first_used = [](const LatencyCounts& latencies) {
    const std::vector<uint32_t>& counts = latencies.counts();
    return static_cast<size_t>(
        std::find_if(counts.begin(), counts.end(), [](uint32_t count) { return count > 0; }) -
        counts.begin());
  };
  size_t first = SIZE_MAX;
  size_t end = 0;
  for (const LatencyCounts& latencies : queue.latency_of_bin) {
    const size_t used = first_used(latencies);
    if (used < latencies.counts().size()) first = std::min(first, used);
    end = std::max(end, latencies.counts().size());
  }
  json out = {{"starts", json::array()}, {"first", json::array()}, {"counts", json::array()}};
  for (size_t bucket = first; bucket <= end; ++bucket) {
    out["starts"].push_back(LatencyCounts::StartOf(bucket));
  }
  for (const LatencyCounts& latencies : queue.latency_of_bin) {
    const std::vector<uint32_t>& counts = latencies.counts();
    const size_t used = first_used(latencies);
    out["first"].push_back(used < counts.size() ? used - first : 0);
    out["counts"].push_back(
        std::vector<uint32_t>(counts.begin() + static_cast<ptrdiff_t>(used), counts.end()));
  }
  return out;
}

json PartsOfQueue(const RunOverview& overview, const LaunchQueue& queue,
                  const ProcessSteps& process) {
  if (overview.tree.bins.empty()) return nullptr;
  const std::vector<BinSteps> bins = StepsOfBins(BinStarts(overview.tree.bins), process);
  json out = PageParts(bins, PartsOf(process, queue, bins));
  out["histograms"] = {{"latency", LatencyHistogram(queue)}};
  return out;
}

// Times since the start of the step. For means over equal parts of the step, only the last one is
// given.
json Depth(const ProcessSteps& process, const QueueCurve& curve) {
  const Step& step = process.steps[curve.step];
  json times = json::array();
  json depths = json::array();
  for (const QueuePoint& point : curve.points) {
    if (!curve.means) times.push_back(point.time_ns - step.start_ns);
    depths.push_back(std::round(point.depth * 100) / 100);
  }
  if (curve.means) times.push_back(step.duration_ns());
  return {{"row", curve.step},
          {"step", step.number},
          {"means", curve.means},
          {"time_ns", std::move(times)},
          {"depth", std::move(depths)}};
}

json Queue(const RunOverview& overview, const LaunchQueue& queue) {
  const ProcessSteps& process = *overview.steps.Of(queue.process);
  json curves = json::array();
  for (const QueueCurve& curve : queue.curves) {
    curves.push_back(Depth(process, curve));
  }
  return {{"title", GpuLabel(overview, queue.process, queue.device)},
          {"process", TrainingOf(overview, queue.process)},
          {"metrics", Metrics(QueueMetrics(), queue)},
          {"shown", Depth(process, queue.curve)},
          {"curves", std::move(curves)},
          {"parts", PartsOfQueue(overview, queue, process)}};
}

}  // namespace

json PageGpu(const RunOverview& overview, const std::vector<GpuUtilization>& utilization,
             const std::vector<MemoryCurve>& memory) {
  json gpu = {{"worked", !overview.gpu.empty()},
              {"utilization", json::array()},
              {"memory", json::array()},
              {"queues", json::array()}};
  for (const GpuUtilization& use : utilization) {
    if (use.steady.time_ns == 0) continue;
    gpu["utilization"].push_back(
        {{"title", GpuLabel(overview, use.process, use.device)},
         {"metrics", Metrics(UtilizationMetrics(use.knows_gpu), use.steady)},
         {"parts", PartsOfUse(overview, use)}});
  }
  for (const MemoryCurve& curve : memory) gpu["memory"].push_back(Curve(overview, curve));
  for (const LaunchQueue& queue : overview.queues) {
    if (!queue.curve.points.empty()) gpu["queues"].push_back(Queue(overview, queue));
  }
  return gpu;
}

}  // namespace batchlight
