#include "report/page/page_gpu.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

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

// The entry of the page's `training` with the steps of this process; -1: it has none.
int TrainingOf(const RunOverview& overview, ProcessId process) {
  const std::vector<ProcessSteps>& all = overview.steps.processes;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].process == process) return int(i);
  }
  return -1;
}

// `key`: what web/src/gpu_sums.ts computes again for steps that are selected.
json Metric(const char* key, const char* label, const std::string& value,
            const std::string& formula) {
  return {{"key", key}, {"label", label}, {"value", value}, {"formula", formula}};
}

json Metrics(const GpuUtilization& found) {
  const GpuUse& use = found.counted;
  json metrics = json::array();
  metrics.push_back(Metric("busy", "GPU utilization", PercentText(use.busy()),
                           "time with at least one kernel / time of the steps"));
  if (found.knows_gpu) {
    metrics.push_back(Metric("sm_efficiency", "Estimated SM efficiency",
                             PercentText(use.sm_efficiency()),
                             "sum of min(blocks / SMs, 1) × kernel time / time of the steps"));
    metrics.push_back(
        Metric("occupancy", "Estimated achieved occupancy", PercentText(use.occupancy()),
               "min(threads / SMs / threads an SM holds, theoretical occupancy), mean weighted by "
               "kernel time"));
  }
  metrics.push_back(Metric("tensor_core", "Tensor Core kernels",
                           PercentText(use.tensor_core_share()),
                           "time of kernels on Tensor Cores, by their names / kernel time"));
  return metrics;
}

// The same per bin of steps, so that the page can add up any of them.
json UseOfBins(const RunOverview& overview, const GpuUtilization& found) {
  const ProcessSteps* process = overview.steps.Of(found.process);
  if (process == nullptr || overview.tree.bins.empty()) return nullptr;
  const std::vector<BinSteps> bins = StepsOfBins(BinStarts(overview.tree.bins), *process);
  std::vector<GpuUse> sums;
  for (const BinSteps& bin : bins) {
    GpuUse& sum = sums.emplace_back();
    for (const uint32_t row : bin.rows) sum.Add(found.steps[row]);
  }
  json out = PageBins(bins);
  const auto list = [&](auto member) {
    json values = json::array();
    for (const GpuUse& sum : sums) values.push_back(std::llround(double(sum.*member)));
    return values;
  };
  out["time_ns"] = list(&GpuUse::time_ns);
  out["busy_ns"] = list(&GpuUse::busy_ns);
  out["kernel_ns"] = list(&GpuUse::kernel_ns);
  out["tensor_ns"] = list(&GpuUse::tensor_ns);
  out["sm_ns"] = list(&GpuUse::sm_ns);
  out["occupancy_ns"] = list(&GpuUse::occupancy_ns);
  return out;
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

json QueueMetrics(const LaunchQueue& queue) {
  json metrics = json::array();
  metrics.push_back(Metric("median", "Launch to start, median",
                           TimeText(double(queue.latency.median)),
                           "start on the GPU − begin of the launching call"));
  metrics.push_back(Metric("p95", "Launch to start, p95", TimeText(double(queue.latency.p95)),
                           "19 of 20 launches start sooner"));
  metrics.push_back(Metric("empty", "Queue empty", PercentText(queue.empty),
                           "time in which nothing launched waits to start / time of the steps"));
  metrics.push_back(
      Metric("depth", "Mean depth", SignificantText(queue.mean_depth),
             "launched and not started, mean over time; at most " + CountText(queue.most)));
  return metrics;
}

json QueueOfBins(const RunOverview& overview, const LaunchQueue& queue,
                 const ProcessSteps& process) {
  if (overview.tree.bins.empty()) return nullptr;
  const std::vector<BinSteps> bins = StepsOfBins(BinStarts(overview.tree.bins), process);
  json out = PageBins(bins);
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    int64_t time_ns = 0;
    double depth_ns = 0;
    double empty_ns = 0;
    uint32_t most = 0;
    for (const uint32_t row : bins[bin].rows) {
      const StepQueue& step = queue.steps[row];
      const int64_t length_ns = process.steps[row].duration_ns();
      time_ns += length_ns;
      depth_ns += step.mean_depth * double(length_ns);
      empty_ns += step.empty * double(length_ns);
      most = std::max(most, step.most);
    }
    out["time_ns"].push_back(time_ns);
    out["depth_ns"].push_back(std::llround(depth_ns));
    out["empty_ns"].push_back(std::llround(empty_ns));
    out["most"].push_back(most);
    // From the first bucket that holds something: latencies are far from 0.
    const std::vector<uint32_t>& counts = queue.latency_of_bin[bin].counts();
    const auto first =
        std::find_if(counts.begin(), counts.end(), [](uint32_t count) { return count > 0; });
    out["first_bucket"].push_back(first - counts.begin());
    out["launches"].push_back(std::vector<uint32_t>(first, counts.end()));
  }
  return out;
}

// Times since the start of the step; of means, over equal parts of it, the last one only.
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
          {"metrics", QueueMetrics(queue)},
          {"shown", Depth(process, queue.curve)},
          {"curves", std::move(curves)},
          {"bins", QueueOfBins(overview, queue, process)}};
}

}  // namespace

json PageBins(const std::vector<BinSteps>& bins) {
  json out = {{"steps", json::array()}, {"counts", json::array()}};
  for (const BinSteps& bin : bins) {
    out["steps"].push_back(bin.rows.size());
    out["counts"].push_back(int(bin.steady));
  }
  return out;
}

json PageGpu(const RunOverview& overview, const std::vector<GpuUtilization>& utilization,
             const std::vector<MemoryCurve>& memory) {
  json gpu = {{"worked", !overview.gpu.empty()},
              {"utilization", json::array()},
              {"memory", json::array()},
              {"queues", json::array()}};
  for (const GpuUtilization& use : utilization) {
    if (use.counted.time_ns == 0) continue;
    gpu["utilization"].push_back({{"title", GpuLabel(overview, use.process, use.device)},
                                  {"metrics", Metrics(use)},
                                  {"bins", UseOfBins(overview, use)}});
  }
  for (const MemoryCurve& curve : memory) gpu["memory"].push_back(Curve(overview, curve));
  for (const LaunchQueue& queue : overview.queues) {
    if (!queue.curve.points.empty()) gpu["queues"].push_back(Queue(overview, queue));
  }
  return gpu;
}

}  // namespace batchlight
