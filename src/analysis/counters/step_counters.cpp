#include "analysis/counters/step_counters.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/counters/operation_metrics.h"
#include "store/counter_sets.h"
#include "store/stall_samples.h"

namespace batchlight {
namespace {

using Place = std::pair<ProcessId, uint32_t>;  // process, device

// The whole-step ranges, by process and number.
std::map<std::pair<ProcessId, uint32_t>, size_t> WholeRanges(const Store& store) {
  std::map<std::pair<ProcessId, uint32_t>, size_t> rows;
  const CounterRangesTable& ranges = store.counter_ranges;
  for (size_t row = 0; row < ranges.size(); ++row) {
    if (ranges.kernels[row] == 0)
      rows.emplace(std::pair{ranges.process[row], ranges.range[row]}, row);
  }
  return rows;
}

// The means of one GPU's metrics, by name; of a metric in several passes that of the first.
class Means {
 public:
  Means(const Store& store, const std::vector<StepCounter>& counters, const Place& place) {
    for (const StepCounter& counter : counters) {
      if (Place{counter.process, counter.device} != place) continue;
      const std::string_view name = store.Text(counter.metric);
      means_.try_emplace(name, counter.mean);
      if (name == kGpuTimeMetric) durations_.try_emplace(counter.counter_set, counter.mean);
      sets_.try_emplace(name, counter.counter_set);
    }
  }

  std::optional<double> Of(std::string_view metric) const {
    const auto found = means_.find(metric);
    return found == means_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<double> ShareOf(std::string_view metric) const {
    const std::optional<double> percent = Of(metric);
    return percent ? std::optional(*percent / 100) : std::nullopt;
  }
  // GPU time of the steps in which the metric was read; 0 unknown.
  double DurationOf(std::string_view metric) const {
    const auto set = sets_.find(metric);
    if (set == sets_.end()) return 0;
    const auto found = durations_.find(set->second);
    return found == durations_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string_view, double> means_;
  std::map<std::string_view, StringId> sets_;
  std::map<StringId, double> durations_;
};

void FindMemory(const Means& means, StepFigures& figures) {
  const auto read = means.Of("dram__bytes_read.sum");
  const auto written = means.Of("dram__bytes_write.sum");
  if (read && written) {
    figures.dram_bytes = *read + *written;
    const double gpu_ns = means.DurationOf("dram__bytes_read.sum");
    if (gpu_ns > 0) figures.dram_gbps = *figures.dram_bytes / gpu_ns;
  }
  figures.dram_share = means.ShareOf("dram__throughput.avg.pct_of_peak_sustained_elapsed");
  figures.l1_hit_share = means.ShareOf("l1tex__t_sector_hit_rate.pct");
  const auto hits = means.Of("lts__t_sectors_lookup_hit.sum");
  const auto misses = means.Of("lts__t_sectors_lookup_miss.sum");
  if (hits && misses && *hits + *misses > 0) figures.l2_hit_share = *hits / (*hits + *misses);
}

void FindOperations(const Means& means, const GpuPeaks& peaks, StepFigures& figures) {
  double most = 0;
  double gpu_ns = 0;
  for (const OperationMetric& known : kOperationMetrics) {
    const std::optional<double> operations = means.Of(known.metric);
    if (!operations) continue;
    figures.tensor_operations = figures.tensor_operations.value_or(0) + *operations;
    if (*operations <= most) continue;
    most = *operations;
    figures.dtype = known.dtype;
    gpu_ns = means.DurationOf(known.metric);
  }
  if (!figures.tensor_operations || gpu_ns <= 0) return;
  figures.tflops = *figures.tensor_operations / gpu_ns / 1e3;
  const double peak = PeakTflops(peaks, figures.dtype, true);
  if (peak > 0) figures.mfu = *figures.tflops / peak;
}

// What was counted in other passes is a step's too; its operations took the time of their own pass.
KernelRoofline RooflineOfStep(const Means& means, double gpu_ns, const GpuPeaks& peaks) {
  const CounterLookup counter = [&means](std::string_view metric) { return means.Of(metric); };
  const KernelRoofline roofline = RooflineOf(counter, gpu_ns, peaks);
  const double own_ns = means.DurationOf(roofline.metric);
  return own_ns > 0 ? RooflineOf(counter, own_ns, peaks) : roofline;
}

}  // namespace

std::vector<StepCounter> SumStepCounters(const Store& store) {
  const auto ranges = WholeRanges(store);
  std::map<std::tuple<ProcessId, uint32_t, StringId, StringId>, size_t> places;
  std::vector<StepCounter> sums;
  const CounterValuesTable& values = store.counter_values;
  for (size_t row = 0; row < values.size(); ++row) {
    const auto range = ranges.find({values.process[row], values.range[row]});
    if (range == ranges.end() || values.launch[row] != 0) continue;
    const uint32_t device = store.counter_ranges.device[range->second];
    const StringId set = store.counter_ranges.counter_set[range->second];
    const auto [place, added] =
        places.try_emplace({values.process[row], device, set, values.metric[row]}, sums.size());
    const double value = values.value[row];
    if (added) {
      sums.push_back({.process = values.process[row],
                      .device = device,
                      .counter_set = set,
                      .metric = values.metric[row],
                      .least = value,
                      .most = value});
    }
    StepCounter& sum = sums[place->second];
    ++sum.steps;
    sum.mean += (value - sum.mean) / double(sum.steps);
    sum.least = std::min(sum.least, value);
    sum.most = std::max(sum.most, value);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const StepCounter& a, const StepCounter& b) {
    return Place{a.process, a.device} < Place{b.process, b.device};
  });
  return sums;
}

std::vector<StepFigures> FindStepFigures(const Store& store,
                                         const std::vector<StepCounter>& counters,
                                         const GpuPeaks& peaks) {
  std::set<Place> places;
  for (const StepCounter& counter : counters) places.insert({counter.process, counter.device});
  std::vector<StepFigures> all;
  for (const Place& place : places) {
    StepFigures figures{.process = place.first, .device = place.second};
    const CounterRangesTable& ranges = store.counter_ranges;
    for (size_t row = 0; row < ranges.size(); ++row) {
      if (Place{ranges.process[row], ranges.device[row]} != place) continue;
      const std::string_view set = store.Text(ranges.counter_set[row]);
      if (set == kSerializedStalls || set == kContinuousStalls) continue;
      if (ranges.kernels[row] == 0) ++figures.steps;
      figures.switch_ns += ranges.switch_ns[row];
    }
    const Means means(store, counters, place);
    figures.gpu_ns = means.Of(kGpuTimeMetric).value_or(0);
    figures.clock_hz = means.Of("sm__cycles_elapsed.avg.per_second");
    figures.tensor_share =
        means.ShareOf("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed");
    figures.occupancy = means.ShareOf("sm__warps_active.avg.pct_of_peak_sustained_active");
    figures.issue_share = means.ShareOf("smsp__issue_active.avg.pct_of_peak_sustained_active");
    figures.instructions = means.Of("sm__inst_executed.sum");
    FindMemory(means, figures);
    FindOperations(means, peaks, figures);
    figures.roofline = RooflineOfStep(means, figures.gpu_ns, peaks);
    all.push_back(figures);
  }
  return all;
}

std::vector<StepFigures> FindStepFigures(const Store& store) {
  if (store.counter_ranges.size() == 0) return {};
  const GpusTable& gpus = store.gpus;
  const GpuPeaks peaks =
      gpus.size() == 0 ? GpuPeaks() : PeaksOf(store.Text(gpus.name[0]), gpus.Row(0));
  return FindStepFigures(store, SumStepCounters(store), peaks);
}

}  // namespace batchlight
