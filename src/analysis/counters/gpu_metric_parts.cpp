#include "analysis/counters/gpu_metric_parts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "analysis/gpu/gpu_idle.h"
#include "analysis/gpu/gpu_launches.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

// A kernel that is shorter has hardly a sample of its own.
constexpr int64_t kIntervalsOfKernel = 3;

struct Stretch {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string_view name;
};
using Stretches = std::vector<Stretch>;  // of one kind, by start

// What one GPU did, longer than an interval.
struct DeviceStretches {
  Stretches of_kind[3];

  Stretches& Of(MetricPartKind kind) { return of_kind[size_t(kind)]; }
};

// The phase whose work a kernel is; kOther: not known.
PhaseKind PhaseOfWork(const Store& store, const WorkOwner& owner) {
  if (owner.backward) return PhaseKind::kBackward;
  if (!owner.phase.IsNone()) {
    const PhaseKind kind = PhaseKindOfCall(store.phase_calls.phase[owner.phase.row()]);
    if (kind != PhaseKind::kOther) return kind;
  }
  return owner.module.IsNone() ? PhaseKind::kOther : PhaseKind::kForward;
}

class Finder {
 public:
  Finder(const StepInputs& inputs, const Attribution& work, int64_t interval_ns)
      : store_(inputs.store), work_(work), interval_ns_(interval_ns), explainer_(inputs) {}

  std::map<uint32_t, DeviceStretches> Find() {
    AddKernels();
    const std::vector<DeviceWork> devices = CollectDeviceWork(store_);
    const std::vector<GpuLaunches> launches = FindGpuLaunches(store_, devices);
    for (size_t i = 0; i < devices.size(); ++i) AddIdle(devices[i], launches[i]);
    for (auto& [device, found] : found_) {
      for (Stretches& stretches : found.of_kind) {
        std::stable_sort(
            stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.start_ns < b.start_ns; });
      }
    }
    return std::move(found_);
  }

 private:
  void Add(uint32_t device, MetricPartKind kind, const Stretch& stretch) {
    if (stretch.end_ns - stretch.start_ns < interval_ns_) return;
    found_[device].Of(kind).push_back(stretch);
  }

  // Work of one phase in a row, with the pauses in between.
  void AddKernels() {
    struct Open {
      PhaseKind kind = PhaseKind::kOther;
      Stretch stretch;
    };
    std::map<uint32_t, Open> open;
    const auto close = [this](uint32_t device, const Open& of) {
      if (of.kind != PhaseKind::kOther) Add(device, MetricPartKind::kPhase, of.stretch);
    };
    const KernelsTable& kernels = store_.kernels;
    for (size_t row = 0; row < kernels.size() && row < work_.kernels.size(); ++row) {
      const Stretch stretch{kernels.start_ns[row], kernels.end_ns[row],
                            store_.Text(kernels.short_name[row])};
      if (stretch.end_ns == kOpenEnd) continue;
      const uint32_t device = kernels.device[row];
      if (stretch.end_ns - stretch.start_ns >= kIntervalsOfKernel * interval_ns_) {
        Add(device, MetricPartKind::kKernel, stretch);
      }
      const PhaseKind kind = PhaseOfWork(store_, work_.kernels[row]);
      Open& phase = open[device];
      if (kind != phase.kind) {
        close(device, phase);
        phase = {kind, {stretch.start_ns, stretch.end_ns, PhaseKindName(kind)}};
      }
      phase.stretch.end_ns = std::max(phase.stretch.end_ns, stretch.end_ns);
    }
    for (const auto& [device, phase] : open) close(device, phase);
  }

  void AddIdle(const DeviceWork& device, const GpuLaunches& launches) {
    const std::vector<TimeSpan> busy = BusyOf(device);
    if (busy.empty()) return;
    VisitGaps(busy, busy.front().start_ns, busy.back().end_ns, [&](int64_t from, int64_t to) {
      const auto next = launches.FirstFrom(to);
      if (to - from < interval_ns_ || !next) return;
      explainer_.Explain(from, to, next->call, [&](const IdleStretch& stretch) {
        Add(device.device, MetricPartKind::kIdle,
            {stretch.start_ns, stretch.end_ns, GpuPartName(stretch.part)});
      });
    });
  }

  const Store& store_;
  const Attribution& work_;
  const int64_t interval_ns_;  // the shortest of any metric
  GpuIdleExplainer explainer_;
  std::map<uint32_t, DeviceStretches> found_;
};

// Where each process sees one GPU alone, all call theirs 0: nobody can say whose work is whose.
bool IsOneGpu(const Store& store, uint32_t cuda_device) {
  return std::count(store.gpus.device.begin(), store.gpus.device.end(), cuda_device) <= 1;
}

// The stretch in which all of an interval lies; nullptr: none.
const Stretch* Around(const Stretches& stretches, int64_t start_ns, int64_t end_ns) {
  const auto behind = std::upper_bound(
      stretches.begin(), stretches.end(), start_ns,
      [](int64_t time_ns, const Stretch& stretch) { return time_ns < stretch.start_ns; });
  if (behind == stretches.begin() || (behind - 1)->end_ns < end_ns) return nullptr;
  return &*(behind - 1);
}

}  // namespace

std::string_view MetricPartKindName(MetricPartKind kind) {
  constexpr std::string_view kNames[] = {"phase", "idle", "kernel"};
  return kNames[size_t(kind)];
}

uint32_t CudaDeviceOf(const Store& store, size_t metric) {
  const GpuMetricsTable& metrics = store.gpu_metrics;
  for (size_t row = 0; row < store.gpus.size(); ++row) {
    const bool same =
        !metrics.uuid[metric].IsNone() && store.gpus.uuid[row] == metrics.uuid[metric];
    if (same) return store.gpus.device[row];
  }
  return metrics.device[metric];
}

std::vector<GpuMetricPart> SumGpuMetricParts(const StepInputs& inputs, const StepSet& steps,
                                             const Attribution& work) {
  const Store& store = inputs.store;
  const GpuMetricsTable& metrics = store.gpu_metrics;
  const GpuMetricSamplesTable& samples = store.gpu_metric_samples;
  struct Metric {
    uint32_t cuda_device = 0;
    int64_t interval_ns = 0;
    StringId unit;
  };
  std::map<std::pair<uint32_t, StringId>, Metric> known;
  int64_t shortest_ns = std::numeric_limits<int64_t>::max();
  for (size_t row = 0; row < metrics.size(); ++row) {
    const int64_t interval_ns = metrics.interval_ns[row];
    if (interval_ns <= 0 || !IsOneGpu(store, CudaDeviceOf(store, row))) continue;
    known.try_emplace({metrics.device[row], metrics.metric[row]},
                      Metric{CudaDeviceOf(store, row), interval_ns, metrics.unit[row]});
    shortest_ns = std::min(shortest_ns, interval_ns);
  }
  if (known.empty() || samples.size() == 0) return {};
  std::map<uint32_t, DeviceStretches> devices = Finder(inputs, work, shortest_ns).Find();
  std::map<std::tuple<uint32_t, MetricPartKind, std::string_view, StringId>, GpuMetricPart> sums;
  StepLookup lookup(steps.Main());
  for (size_t row = 0; row < samples.size(); ++row) {
    const auto metric = known.find({samples.device[row], samples.metric[row]});
    if (metric == known.end()) continue;
    const int64_t start_ns = samples.start_ns[row];
    const auto device = devices.find(metric->second.cuda_device);
    if (device == devices.end() || !lookup.IsSteadyAt(start_ns)) continue;
    for (const MetricPartKind kind :
         {MetricPartKind::kPhase, MetricPartKind::kIdle, MetricPartKind::kKernel}) {
      const Stretch* const stretch =
          Around(device->second.Of(kind), start_ns, start_ns + metric->second.interval_ns);
      if (stretch == nullptr) continue;
      GpuMetricPart& sum = sums[{samples.device[row], kind, stretch->name, samples.metric[row]}];
      if (sum.samples == 0) {
        sum = {.device = samples.device[row],
               .kind = kind,
               .name = std::string(stretch->name),
               .metric = samples.metric[row],
               .unit = metric->second.unit};
      }
      ++sum.samples;
      sum.mean += (samples.value[row] - sum.mean) / double(sum.samples);
    }
  }
  std::vector<GpuMetricPart> parts;
  for (auto& [key, sum] : sums) parts.push_back(std::move(sum));
  std::stable_sort(parts.begin(), parts.end(), [](const GpuMetricPart& a, const GpuMetricPart& b) {
    return std::tuple(a.device, a.kind, b.samples) < std::tuple(b.device, b.kind, a.samples);
  });
  return parts;
}

}  // namespace batchlight
