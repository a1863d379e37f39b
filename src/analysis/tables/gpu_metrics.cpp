#include "analysis/tables/gpu_metrics.h"

#include <string>

#include "analysis/numbers/latency_counts.h"
#include "analysis/tables/parts_of_rows.h"

namespace batchlight {
namespace {

ColumnOf<GpuUse> ShareOfUse(SumRule rule, std::string key, std::string name, std::string formula) {
  return {Summed(rule, PercentColumn(std::move(key), std::move(name), std::move(formula))),
          [rule](const GpuUse& use) {
            const std::optional<double> value = Evaluate(rule, PartsOf({use}));
            return value ? Cell{*value} : Cell{};
          }};
}

constexpr SumRule PercentileOf(std::string_view histogram, double percent) {
  return {.kind = SumRule::Kind::kPercentile, .of = histogram, .percent = percent};
}

// Of selected steps the page knows how many latencies are in which bucket.
std::string About(const std::string& formula) {
  const auto percent = static_cast<int>(100 * LatencyCounts::kResolution) + 1;
  return formula + ", within " + std::to_string(percent) + " %";
}

ColumnOf<LaunchQueue> Latency(double percent, int64_t Sample::*value, std::string key,
                              std::string name, const std::string& formula) {
  return {Summed(PercentileOf("latency", percent),
                 TimeColumn(std::move(key), std::move(name), formula), About(formula)),
          [value](const LaunchQueue& queue) { return queue.latency.*value; }};
}

SumRule MeanDepth() {
  SumRule rule = RatioOf("depth_ns", "time_ns");
  rule.zero_if_none = true;
  return rule;
}

}  // namespace

Columns<GpuUse> UtilizationMetrics(bool knows_gpu) {
  SumRule efficiency = ShareOf("sm_ns", "time_ns");
  efficiency.at_most = 100;
  Columns<GpuUse> metrics = {ShareOfUse(ShareOf("busy_ns", "time_ns"), "busy", "GPU busy",
                                        "time with any work / time of the steps on the GPU")};
  if (knows_gpu) {
    metrics.push_back(ShareOfUse(efficiency, "sm_efficiency", "Estimated SM efficiency",
                                 "sum of min(blocks / SMs, 1) × kernel time / time of the steps"));
    metrics.push_back(ShareOfUse(
        ShareOf("occupancy_ns", "kernel_ns"), "occupancy", "Estimated achieved occupancy",
        "min(threads / SMs / threads an SM holds, theoretical occupancy), mean weighted by "
        "kernel time"));
  }
  metrics.push_back(ShareOfUse(ShareOf("tensor_ns", "kernel_ns"), "tensor_core",
                               "Tensor Core kernels",
                               "time of kernels on Tensor Cores, by their names / kernel time"));
  return metrics;
}

const Columns<LaunchQueue>& QueueMetrics() {
  static const Columns<LaunchQueue> metrics = {
      Latency(50, &Sample::median, "median", "Launch to start, median",
              "start on the GPU − begin of the launching call"),
      Latency(95, &Sample::p95, "p95", "Launch to start, p95", "19 of 20 launches start sooner"),
      {Summed(ShareOf("empty_ns", "time_ns"),
              PercentColumn("empty", "Queue empty",
                            "time in which nothing launched waits to start / time of the steps")),
       [](const LaunchQueue& queue) { return queue.empty * 100; }},
      {Summed(MeanDepth(), RealColumn("depth", "Mean depth",
                                      "launched and not started, mean over time; at most {most}")),
       &LaunchQueue::mean_depth},
      {Summed(MostOf("most"), CountColumn("most", "", "")), &LaunchQueue::most}};
  return metrics;
}

}  // namespace batchlight
