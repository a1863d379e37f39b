#include "analysis/gpu/gpu_summary.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/cuda/cuda_call.h"
#include "analysis/steps/step_clock.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

// GPU rows are ordered by start; StepClock seeks cheaply when asked in order of (thread, time), so
// that launches of one thread, which come almost in order, cost little.
bool IsSteadyLaunch(const Store& store, StepClock& clock, ApiCallId call) {
  if (call.IsNone()) return false;
  const size_t row = call.row();
  return clock.IsSteady(store.api_calls.thread[row], store.api_calls.start_ns[row]);
}

void AddStream(uint32_t stream, std::vector<uint32_t>& streams) {
  constexpr size_t kMost = 16;
  const auto place = std::lower_bound(streams.begin(), streams.end(), stream);
  if ((place != streams.end() && *place == stream) || streams.size() == kMost) return;
  streams.insert(place, stream);
}

std::vector<KernelRow> SummarizeKernels(const Store& store, const StepSet& steps,
                                        const Attribution& work, GpuSummary* summary) {
  const KernelsTable& kernels = store.kernels;
  StepClock clock(store, steps);
  std::vector<KernelRow> rows;
  std::vector<int64_t> steady_ns;
  std::vector<uint64_t> steady_calls;
  std::vector<std::map<KernelLaunchId, uint64_t>> launches;
  std::unordered_map<StringId, size_t> known;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const auto [found, added] = known.try_emplace(kernels.demangled_name[i], rows.size());
    if (added) {
      rows.push_back({.name = kernels.demangled_name[i],
                      .short_name = kernels.short_name[i],
                      .min_ns = INT64_MAX,
                      .kind = ClassifyKernel(store.Text(kernels.demangled_name[i]))});
      steady_ns.push_back(0);
      steady_calls.push_back(0);
      launches.emplace_back();
    }
    KernelRow& row = rows[found->second];
    const int64_t duration_ns = kernels.end_ns[i] - kernels.start_ns[i];
    ++row.calls;
    row.total_ns += duration_ns;
    row.min_ns = std::min(row.min_ns, duration_ns);
    row.max_ns = std::max(row.max_ns, duration_ns);
    if (row.owner.IsNone()) row.owner = work.kernels[i].op;
    ++launches[found->second][kernels.launch[i]];
    AddStream(kernels.stream[i], row.streams);
    summary->kernel_ns += duration_ns;
    if (IsSteadyLaunch(store, clock, kernels.api_call[i])) {
      steady_ns[found->second] += duration_ns;
      ++steady_calls[found->second];
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].calls_per_step = clock.PerStep(double(steady_calls[i]));
    rows[i].per_step_ns = clock.PerStep(double(steady_ns[i]));
    const auto most = std::max_element(launches[i].begin(), launches[i].end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    rows[i].launch = most->first;
    if (store.gpus.size() > 0 && most->first.row() < store.kernel_launches.size()) {
      rows[i].occupancy =
          TheoreticalOccupancy(store.kernel_launches.Row(most->first.row()), store.gpus.Row(0));
    }
  }
  std::sort(rows.begin(), rows.end(), [&](const KernelRow& a, const KernelRow& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    return store.Text(a.name) < store.Text(b.name);
  });
  return rows;
}

std::vector<CopyRow> SummarizeCopies(const Store& store, const StepSet& steps) {
  const MemcpysTable& copies = store.memcpys;
  StepClock clock(store, steps);
  std::map<std::tuple<CopyKind, MemoryKind, MemoryKind>, CopyRow> rows;
  for (size_t i = 0; i < copies.size(); ++i) {
    CopyRow& row = rows[{copies.copy_kind[i], copies.source_kind[i], copies.destination_kind[i]}];
    ++row.calls;
    row.bytes += copies.bytes[i];
    row.total_ns += copies.end_ns[i] - copies.start_ns[i];
    if (IsSteadyLaunch(store, clock, copies.api_call[i])) {
      row.calls_per_step += 1;
      row.bytes_per_step += double(copies.bytes[i]);
      row.per_step_ns += double(copies.end_ns[i] - copies.start_ns[i]);
    }
  }
  std::vector<CopyRow> result;
  for (auto& [key, row] : rows) {
    std::tie(row.kind, row.source, row.destination) = key;
    row.calls_per_step = clock.PerStep(row.calls_per_step);
    row.bytes_per_step = clock.PerStep(row.bytes_per_step);
    row.per_step_ns = clock.PerStep(row.per_step_ns);
    result.push_back(std::move(row));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const CopyRow& a, const CopyRow& b) { return a.total_ns > b.total_ns; });
  return result;
}

std::vector<WaitRow> SummarizeWaits(const Store& store, const StepSet& steps) {
  const ApiCallsTable& calls = store.api_calls;
  const OperatorCallsTable& operators = store.operator_calls;
  const IntervalIndex index(operators.thread, operators.start_ns, operators.end_ns);
  StepClock clock(store, steps);
  std::unordered_map<StringId, bool> waiting;
  std::map<std::pair<StringId, StringId>, WaitRow> rows;
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto [found, added] = waiting.try_emplace(calls.name[i], false);
    if (added) found->second = IsWaitingCall(store.Text(calls.name[i]));
    if (!found->second || calls.end_ns[i] == kOpenEnd) continue;
    const uint32_t op = index.Innermost(calls.thread[i], calls.start_ns[i]);
    const StringId op_name = op == kNoRow ? StringId::None() : operators.name[op];
    WaitRow& row = rows[{calls.name[i], op_name}];
    if (row.calls == 0) {
      row.call = calls.name[i];
      row.operator_name = op_name;
      if (op != kNoRow) row.owner = OperatorCallId::At(op);
    }
    const int64_t duration_ns = calls.end_ns[i] - calls.start_ns[i];
    ++row.calls;
    row.total_ns += duration_ns;
    if (clock.IsSteady(calls.thread[i], calls.start_ns[i])) {
      row.calls_per_step += 1;
      row.per_step_ns += double(duration_ns);
    }
  }
  std::vector<WaitRow> result;
  for (auto& [key, row] : rows) {
    row.calls_per_step = clock.PerStep(row.calls_per_step);
    row.per_step_ns = clock.PerStep(row.per_step_ns);
    result.push_back(row);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const WaitRow& a, const WaitRow& b) { return a.total_ns > b.total_ns; });
  return result;
}

// Work of one table that steady steps launched, ns.
template <typename Table>
double SteadyNs(const Store& store, StepClock& clock, const Table& work) {
  double sum = 0;
  for (size_t row = 0; row < work.size(); ++row) {
    if (work.end_ns[row] == kOpenEnd || !IsSteadyLaunch(store, clock, work.api_call[row])) continue;
    sum += double(work.end_ns[row] - work.start_ns[row]);
  }
  return sum;
}

// By process as the steps are, so that the first breakdown is of the first process.
void OrderByProcess(const StepSet& steps, std::vector<GpuBreakdown>& breakdowns) {
  const auto place = [&](const GpuBreakdown& gpu) {
    return std::find_if(
        steps.processes.begin(), steps.processes.end(),
        [&](const ProcessSteps& process) { return process.process == gpu.process; });
  };
  std::stable_sort(
      breakdowns.begin(), breakdowns.end(),
      [&](const GpuBreakdown& a, const GpuBreakdown& b) { return place(a) < place(b); });
}

void SetShares(const Store& store, const StepSet& steps, GpuSummary& summary) {
  StepClock clock(store, steps);
  summary.work_per_step_ns = clock.PerStep(
      SteadyNs(store, clock, store.kernels) + SteadyNs(store, clock, store.memcpys) +
      SteadyNs(store, clock, store.memsets) + SteadyNs(store, clock, store.graph_launches));
  const bool has_steps = clock.count() > 0;
  const double whole_ns = has_steps ? summary.work_per_step_ns : double(summary.work_ns);
  if (whole_ns <= 0) return;
  for (KernelRow& row : summary.kernels) {
    row.share = (has_steps ? row.per_step_ns : double(row.total_ns)) / whole_ns;
  }
}

}  // namespace

GpuSummary SummarizeGpu(const StepInputs& inputs, const StepSet& steps, const Attribution& work) {
  const Store& store = inputs.store;
  GpuSummary summary;
  if (work.total_ns == 0) return summary;
  summary.work_ns = work.total_ns;
  summary.unattributed_ns = work.unattributed_ns;
  summary.kernel_count = store.kernels.size();
  summary.graph_launches = store.graph_launches.size();
  summary.breakdowns = BreakDownGpu(inputs, steps);
  OrderByProcess(steps, summary.breakdowns);
  summary.kernels = SummarizeKernels(store, steps, work, &summary);
  summary.copies = SummarizeCopies(store, steps);
  summary.waits = SummarizeWaits(store, steps);
  SetShares(store, steps, summary);
  return summary;
}

}  // namespace batchlight
