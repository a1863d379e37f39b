#include "analysis/ranks/rank_pace.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "analysis/cuda/cuda_call.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

// A launch takes 2 to 20 us; one that takes longer waits for room in the queue.
constexpr int64_t kFullQueueNs = 100'000;

// By row of the process's steps: what its CPU takes, without what it waits there for its GPU.
std::vector<int64_t> OwnNs(const Store& store, const ThreadSpans& rows, const ProcessSteps& process,
                           const StepBreakdown& breakdown) {
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
  return own_ns;
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

}  // namespace

LostToRank MeasureLostTo(size_t late, const Store& store, const StepSet& steps,
                         const std::vector<StepBreakdown>& breakdowns,
                         const Distributed& distributed) {
  const ThreadSpans calls(store.api_calls.thread);
  const ProcessSteps& own = steps.processes[late];
  std::optional<Mean> least;
  const auto consider = [&](const std::vector<double>& shorter_ns) {
    const Mean mean = MeanOf(shorter_ns);
    if (!least || mean.ns < least->ns) least = mean;
  };
  for (size_t i = 0; i < steps.processes.size(); ++i) {
    if (i == late) continue;
    const ProcessSteps& process = steps.processes[i];
    const std::vector<int64_t> own_ns = OwnNs(store, calls, process, breakdowns[i]);
    const RankRow& rank = distributed.ranks[i];
    const double gpu_ns = rank.compute_ns + rank.copies_ns +
                          std::max(0.0, rank.exposed_communication_ns - rank.waited_ns);
    const size_t common = std::min(own.steady.size(), process.steady.size());
    if (common == 0) continue;
    std::vector<double> on_cpu, on_gpu;
    for (size_t k = 0; k < common; ++k) {
      const auto step_ns = double(own.steps[own.steady[k]].duration_ns());
      on_cpu.push_back(step_ns - double(own_ns[process.steady[k]]));
      on_gpu.push_back(step_ns - gpu_ns);
    }
    consider(on_cpu);
    consider(on_gpu);
  }
  return least ? LostToRank{least->ns, least->error_ns} : LostToRank{};
}

}  // namespace batchlight
