#include "analysis/counters/kernel_roofline.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/counters/operation_metrics.h"

namespace batchlight {
namespace {

constexpr std::string_view kSmClock = "sm__cycles_elapsed.avg.per_second";
constexpr double kOfWarpInstruction = 64;  // 32 threads, a multiplication and an addition each

struct WorkType {
  OperationMetric of;
  double operations = 1;  // each count is that many
  bool tensor_cores = true;
  bool at_most = false;
};

constexpr WorkType kOtherTypes[] = {
    {{"sm__ops_path_tensor_op_igmma_src_int8.sum",
      "i8",
      "Tensor int8",
      {"sm__ops_path_tensor_op_igmma_src_int8_sparsity_off.sum"}}},
    {{"sm__inst_executed_pipe_fma.sum", "f32", "fp32", {"sm__inst_executed_pipe_fma.sum"}},
     kOfWarpInstruction,
     false,
     true},
    {{"sm__inst_executed_pipe_fp64.sum", "f64", "fp64", {"sm__inst_executed_pipe_fp64.sum"}},
     kOfWarpInstruction,
     false,
     true}};

struct LevelMetric {
  MemoryRoof level;
  std::string_view counter;
  std::string_view also;  // is added; "": nothing
  std::string_view clock;
  double bytes = 1;  // each count is that many
};

constexpr LevelMetric kLevels[] = {
    {MemoryRoof::kDram, "dram__bytes_read.sum", "dram__bytes_write.sum",
     "dram__cycles_elapsed.avg.per_second", 1},
    {MemoryRoof::kL2, "lts__lts2xbar_cycles_active.sum", "", "lts__cycles_elapsed.avg.per_second",
     32},
    {MemoryRoof::kL1, "l1tex__lsu_writeback_active_mem_lgds.sum", "", kSmClock, 128}};

// Some chips have no number for some constant, and say so with one that is none.
std::optional<double> Positive(std::optional<double> value) {
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

std::optional<double> PeakOf(const CounterLookup& counter, std::string_view metric,
                             std::string_view clock, double unit) {
  const auto a_cycle = Positive(counter(std::string(metric) + ".peak_sustained"));
  const auto hz = Positive(counter(clock));
  return a_cycle && hz ? std::optional(*a_cycle * *hz * unit) : std::nullopt;
}

void TakeType(const CounterLookup& counter, double time_ns, const GpuPeaks& data_sheet,
              const WorkType& type, KernelRoofline& roofline) {
  const std::optional<double> count = counter(type.of.metric);
  if (!count || !std::isfinite(*count)) return;
  roofline.counted = true;
  const double operations = *count * type.operations;
  if (operations <= roofline.operations) return;
  roofline.operations = operations;
  roofline.type = type.of.title;
  roofline.metric = type.of.metric;
  roofline.at_most = type.at_most;
  roofline.per_s = operations / time_ns * 1e9;
  for (const std::string_view dense : type.of.dense) {
    if (dense.empty()) break;
    roofline.peak_per_s = PeakOf(counter, dense, kSmClock, type.operations);
    if (roofline.peak_per_s) return;
  }
  roofline.peak_per_s = Positive(PeakTflops(data_sheet, type.of.dtype, type.tensor_cores) * 1e12);
}

void TakeLevel(const CounterLookup& counter, const GpuPeaks& data_sheet, const LevelMetric& metric,
               KernelRoofline& roofline) {
  LevelTraffic& level = roofline.levels[size_t(metric.level)];
  const std::optional<double> count = counter(metric.counter);
  const std::optional<double> more = metric.also.empty() ? 0 : counter(metric.also);
  if (!count || !more || !std::isfinite(*count + *more)) return;
  level.bytes = (*count + *more) * metric.bytes;
  level.peak_per_s = PeakOf(counter, metric.counter, metric.clock, metric.bytes);
  if (!level.peak_per_s && metric.level == MemoryRoof::kDram) {
    level.peak_per_s = Positive(data_sheet.bandwidth_gbps * 1e9);
  }
  if (*level.bytes > 0 && roofline.operations > 0) {
    level.intensity = roofline.operations / *level.bytes;
  }
}

void FindRoof(double time_ns, KernelRoofline& roofline) {
  if (roofline.operations > 0) {
    if (!roofline.peak_per_s) return;
    roofline.attainable_per_s = roofline.peak_per_s;
    roofline.roof = roofline.type;
  }
  for (size_t i = 0; i < roofline.levels.size(); ++i) {
    const LevelTraffic& level = roofline.levels[i];
    if (!level.peak_per_s) continue;
    if (roofline.operations > 0) {
      if (!level.intensity || *level.intensity * *level.peak_per_s >= *roofline.attainable_per_s) {
        continue;
      }
      roofline.attainable_per_s = *level.intensity * *level.peak_per_s;
    } else {
      const double share = *level.bytes / time_ns * 1e9 / *level.peak_per_s;
      if (roofline.share && share <= *roofline.share) continue;
      roofline.share = share;
    }
    roofline.roof = RoofName(MemoryRoof(i));
  }
  if (roofline.attainable_per_s) roofline.share = roofline.per_s / *roofline.attainable_per_s;
}

}  // namespace

KernelRoofline RooflineOf(const CounterLookup& counter, double time_ns,
                          const GpuPeaks& data_sheet) {
  KernelRoofline roofline;
  if (time_ns <= 0) return roofline;
  for (const OperationMetric& known : kOperationMetrics) {
    TakeType(counter, time_ns, data_sheet, {known}, roofline);
  }
  for (const WorkType& type : kOtherTypes) {
    TakeType(counter, time_ns, data_sheet, type, roofline);
  }
  if (!roofline.counted) return roofline;
  for (const LevelMetric& level : kLevels) TakeLevel(counter, data_sheet, level, roofline);
  FindRoof(time_ns, roofline);
  return roofline;
}

std::string_view RoofName(MemoryRoof level) {
  constexpr std::string_view kNames[] = {"DRAM", "L2", "L1"};
  static_assert(std::size(kNames) == size_t(MemoryRoof::kCount));
  return level < MemoryRoof::kCount ? kNames[size_t(level)] : "";
}

}  // namespace batchlight
