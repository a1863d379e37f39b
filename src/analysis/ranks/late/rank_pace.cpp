#include "analysis/ranks/late/rank_pace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "analysis/cuda/cuda_call.h"
#include "analysis/gpu/gpu_intervals.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/time_span.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

// A launch takes 2 to 20 us; one that takes longer waits for room in the queue.
constexpr int64_t kFullQueueNs = 100'000;
// What is lost is a difference of means of steps that jitter: from so many times its standard error
// on it is no chance.
constexpr double kSureErrors = 3.5;

uint32_t InUs(int64_t ns) {
  return static_cast<uint32_t>(std::clamp<int64_t>((ns + 500) / 1000, 0, UINT32_MAX));
}

// By row of the process's steps: what its CPU takes, without what it waits there for its GPU.
std::vector<uint32_t> CpuUs(const Store& store, const ThreadSpans& rows,
                            const ProcessSteps& process, const StepBreakdown& breakdown) {
  std::vector<int64_t> own_ns;
  for (const Step& step : process.steps) own_ns.push_back(step.duration_ns());
  for (const PhaseShare& phase : breakdown.phases) {
    if (phase.kind != PhaseKind::kGpuWait) continue;
    for (size_t step = 0; step < own_ns.size(); ++step) own_ns[step] -= phase.per_step_ns[step];
  }
  const ApiCallsTable& calls = store.api_calls;
  for (uint32_t thread = 0; thread < rows.thread_count(); ++thread) {
    if (store.threads.process[thread] != process.process) continue;
    StepLookup steps(&process);
    const ThreadSpans::Rows own = rows.Of(ThreadId{thread});
    for (uint32_t row = own.begin; row < own.end; ++row) {
      const int64_t start_ns = calls.start_ns[row];
      const int64_t call_ns = ClosedEnd(store, start_ns, calls.end_ns[row]) - start_ns;
      if (call_ns < kFullQueueNs) continue;
      const std::string_view name = store.Text(calls.name[row]);
      if (!GivesWork(name) || IsWaitingCall(name)) continue;
      const size_t step = steps.RowAt(start_ns);
      if (step != StepLookup::kNone) own_ns[step] -= call_ns;
    }
  }
  std::vector<uint32_t> own_us;
  for (const int64_t ns : own_ns) own_us.push_back(InUs(ns));
  return own_us;
}

// Of the device on which each process works longest: when it does anything but communicate.
std::map<ProcessId, std::vector<TimeSpan>> BusyWithOwn(const Store& store) {
  struct Busy {
    std::vector<TimeSpan> spans;
    int64_t ns = 0;
  };
  std::map<ProcessId, Busy> longest;
  for (const DeviceWork& device : CollectDeviceWork(store)) {
    Busy busy;
    for (size_t kind = 0; kind < kGpuWorkCount; ++kind) {
      if (static_cast<GpuWork>(kind) == GpuWork::kCommunication) continue;
      busy.spans = UniteSpans(busy.spans, device.work[kind]);
    }
    for (const TimeSpan& span : busy.spans) busy.ns += span.end_ns - span.start_ns;
    Busy& most = longest[device.process];
    if (busy.ns > most.ns) most = std::move(busy);
  }
  std::map<ProcessId, std::vector<TimeSpan>> found;
  for (auto& [process, busy] : longest) found[process] = std::move(busy.spans);
  return found;
}

std::vector<uint32_t> GpuUs(const std::vector<TimeSpan>& busy, const ProcessSteps& process) {
  std::vector<uint32_t> gpu_us;
  size_t at = 0;
  for (const Step& step : process.steps) {
    gpu_us.push_back(InUs(NsInside(busy, step.start_ns, step.end_ns, at)));
  }
  return gpu_us;
}

struct Mean {
  double ns = 0;
  double error_ns = 0;  // standard error
};

Mean MeanOf(const std::vector<double>& values) {
  const auto count = double(values.size());
  Mean mean;
  if (values.empty()) return mean;
  double squares = 0;
  for (const double value : values) mean.ns += value / count;
  for (const double value : values) squares += (value - mean.ns) * (value - mean.ns);
  if (values.size() > 1) mean.error_ns = std::sqrt(squares / (count - 1) / count);
  return mean;
}

double MeanGpuNs(const PacedRank& rank) {
  double us = 0;
  for (const uint32_t row : rank.steady) us += double(rank.pace->gpu_us[row]);
  return rank.steady.empty() ? 0 : us * 1000 / double(rank.steady.size());
}

// What the steps of `late` are longer than the rank needs for itself, mean; of its CPU and its GPU
// whichever is longer.
Mean LongerThan(const PacedRank& rank, double gpu_ns, const PacedRank& late) {
  const size_t common = std::min(late.steady.size(), rank.steady.size());
  std::vector<double> on_cpu, on_gpu;
  for (size_t k = 0; k < common; ++k) {
    const auto step_ns = double(late.step_ns[late.steady[k]]);
    on_cpu.push_back(step_ns - double(rank.pace->cpu_us[rank.steady[k]]) * 1000);
    on_gpu.push_back(step_ns - gpu_ns - rank.communication_ns);
  }
  const Mean cpu = MeanOf(on_cpu), gpu = MeanOf(on_gpu);
  return cpu.ns < gpu.ns ? cpu : gpu;
}

}  // namespace

std::vector<RankPace> MeasurePaces(const Store& store, const StepSet& steps,
                                   const std::vector<StepBreakdown>& breakdowns) {
  const ThreadSpans calls(store.api_calls.thread);
  const std::map<ProcessId, std::vector<TimeSpan>> busy = BusyWithOwn(store);
  std::vector<RankPace> paces;
  for (size_t i = 0; i < steps.processes.size(); ++i) {
    const ProcessSteps& process = steps.processes[i];
    const auto own = busy.find(process.process);
    paces.push_back(
        {.cpu_us = CpuUs(store, calls, process, breakdowns[i]),
         .gpu_us = GpuUs(own == busy.end() ? std::vector<TimeSpan>() : own->second, process)});
  }
  return paces;
}

LateVerdict JudgeLateRank(const SlowRank& slow, std::span<const PacedRank> ranks) {
  LateVerdict verdict{.lost_ns = slow.waited_ns};
  bool known = true, uses_gpu = false;
  for (const PacedRank& rank : ranks) known = known && !rank.pace->empty();
  if (!known) return verdict;
  std::vector<double> gpu_ns;
  double others_gpu_ns = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    gpu_ns.push_back(MeanGpuNs(ranks[i]));
    uses_gpu = uses_gpu || gpu_ns.back() > 0;
    if (i != slow.rank) others_gpu_ns = std::max(others_gpu_ns, gpu_ns.back());
  }
  verdict.longer_gpu_ns = gpu_ns[slow.rank] - others_gpu_ns;
  verdict.on_gpu = slow.phase == nullptr && verdict.longer_gpu_ns > slow.waited_ns / 2;
  if (slow.phase != nullptr || verdict.on_gpu || !uses_gpu) return verdict;
  std::optional<Mean> least;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i == slow.rank || ranks[i].steady.empty()) continue;
    const Mean longer = LongerThan(ranks[i], gpu_ns[i], ranks[slow.rank]);
    if (!least || longer.ns < least->ns) least = longer;
  }
  const Mean lost = least.value_or(Mean{});
  const bool sure = lost.ns >= kSureErrors * lost.error_ns;
  verdict.lost_ns = sure ? std::clamp(lost.ns, 0.0, slow.waited_ns) : 0;
  return verdict;
}

}  // namespace batchlight
