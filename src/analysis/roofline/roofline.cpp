#include "analysis/roofline/roofline.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/cuda/kernel_class.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/owners/steady_rows.h"
#include "analysis/roofline/operator_cost.h"
#include "analysis/roofline/roofline_sums.h"
#include "analysis/steps/step_clock.h"

namespace batchlight {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t kNotKnown = UINT32_MAX - 1;  // in the place of a row: its cost is not known
constexpr std::string_view kUntyped = "t";  // type of a tensor of which only the sizes are known

uint64_t KeyOf(const OperatorCallsTable& calls, size_t call) {
  return (uint64_t{calls.name[call].value} << 32) | calls.inputs[call].value;
}

// nsys's ranges of operators have sizes without types: those of the kernels, as far as names
// tell.
std::string_view TypeOf(KernelPrecision precision) {
  switch (precision) {
    case KernelPrecision::kFp32:
    case KernelPrecision::kTf32:
      return "f32";
    case KernelPrecision::kHalf:
      return "f16 or bf16";
    case KernelPrecision::kUnknown:
      break;
  }
  return kUntyped;
}

void SetRoof(const GpuPeaks& peaks, RooflineRow& row) {
  const double peak_tflops = PeakTflops(peaks, row.dtype, row.tensor_cores);
  if (peaks.bandwidth_gbps <= 0 || row.bytes <= 0) return;
  const double ridge = peak_tflops > 0 ? peak_tflops * 1e3 / peaks.bandwidth_gbps : 0;
  row.memory_bound = peak_tflops <= 0 || row.flops / row.bytes < ridge;
  row.of_peak = row.memory_bound ? row.gbps() / peaks.bandwidth_gbps : row.tflops() / peak_tflops;
}

}  // namespace

RooflineSums::RooflineSums(const Store& store, const Attribution& work)
    : store_(store), threads_(store.operator_calls.thread) {
  const RowOfCall row_of_call = CountCalls();
  if (rows_.empty()) return;
  if (work.total_ns > 0) {
    AddGpuTime(work, row_of_call);
  } else {
    AddCpuTime(row_of_call);
  }
}

uint32_t RooflineSums::RowOf(size_t call) const {
  return known_.Find(KeyOf(store_.operator_calls, call));
}

// kNone: its cost is not known.
uint32_t RooflineSums::AddRowOf(size_t call) {
  const OperatorCallsTable& calls = store_.operator_calls;
  const uint32_t found = RowOf(call);
  if (found != FlatMap::kAbsent) return found == kNotKnown ? kNone : found;
  const std::string_view name = store_.Text(calls.name[call]);
  const OperatorCost cost = EstimateOperatorCost(name, store_.Text(calls.inputs[call]));
  const auto next = static_cast<uint32_t>(rows_.size());
  known_.FindOrAdd(KeyOf(calls, call), cost.known ? next : kNotKnown);
  if (!cost.known) return kNone;
  RooflineRow row;
  row.name = calls.name[call];
  row.inputs = calls.inputs[call];
  row.flops = cost.flops;
  row.bytes = cost.bytes;
  row.dtype = cost.dtype;
  rows_.push_back(row);
  composite_.push_back(IsCompositeOperator(name));
  matrix_.push_back(cost.matrix);
  return next;
}

// A composite operator counts only if nothing inside it was counted: children stand after their
// parents, so that a walk from the back sees them first. The row of each call; kNone: of none.
RooflineSums::RowOfCall RooflineSums::CountCalls() {
  const OperatorCallsTable& calls = store_.operator_calls;
  RowOfCall row_of_call(calls.size(), kNone);
  counted_.resize(calls.size());
  std::vector<bool> counted_inside(calls.size());
  for (size_t call = calls.size(); call-- > 0;) {
    bool counted = counted_inside[call];
    if (!calls.inputs[call].IsNone()) {
      const uint32_t row = AddRowOf(call);
      if (row != kNone && !(composite_[row] && counted)) {
        row_of_call[call] = row;
        counted_[call] = true;
        ++rows_[row].calls;
        counted |= rows_[row].flops > 0 && matrix_[row];
      }
    }
    const OperatorCallId parent = calls.parent[call];
    if (counted && !parent.IsNone()) counted_inside[parent.row()] = true;
  }
  return row_of_call;
}

// Work belongs to the innermost counted operator around it.
void RooflineSums::AddGpuTime(const Attribution& work, const RowOfCall& row_of_call) {
  const OperatorCallsTable& calls = store_.operator_calls;
  total_ns_ = work.total_ns;
  std::unordered_map<StringId, KernelClass> classes;
  const auto add = [&](const WorkOwner& owner, int64_t duration_ns) {
    for (OperatorCallId op = owner.op; !op.IsNone(); op = calls.parent[op.row()]) {
      const uint32_t row = row_of_call[op.row()];
      if (row == kNone) continue;
      rows_[row].time_ns += duration_ns;
      return row;
    }
    return kNone;
  };
  const KernelsTable& kernels = store_.kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const uint32_t row = add(work.kernels[i], kernels.end_ns[i] - kernels.start_ns[i]);
    if (row == kNone || rows_[row].tensor_cores) continue;
    const auto [found, added] = classes.try_emplace(kernels.demangled_name[i]);
    if (added) found->second = ClassifyKernel(store_.Text(kernels.demangled_name[i]));
    rows_[row].tensor_cores = found->second.tensor_core == TensorCoreUse::kYes;
    if (rows_[row].dtype == kUntyped) rows_[row].dtype = TypeOf(found->second.precision);
  }
  for (size_t i = 0; i < store_.memcpys.size(); ++i) {
    add(work.memcpys[i], store_.memcpys.end_ns[i] - store_.memcpys.start_ns[i]);
  }
  for (size_t i = 0; i < store_.memsets.size(); ++i) {
    add(work.memsets[i], store_.memsets.end_ns[i] - store_.memsets.start_ns[i]);
  }
}

// Without counted operators inside, so that no time counts twice.
void RooflineSums::AddCpuTime(const RowOfCall& row_of_call) {
  const OperatorCallsTable& calls = store_.operator_calls;
  for (size_t call = 0; call < calls.size(); ++call) {
    const int64_t duration_ns =
        ClosedEnd(store_, calls.start_ns[call], calls.end_ns[call]) - calls.start_ns[call];
    OperatorCallId around = calls.parent[call];
    if (around.IsNone()) total_ns_ += duration_ns;
    if (row_of_call[call] == kNone) continue;
    rows_[row_of_call[call]].time_ns += duration_ns;
    while (!around.IsNone() && row_of_call[around.row()] == kNone) {
      around = calls.parent[around.row()];
    }
    if (!around.IsNone()) rows_[row_of_call[around.row()]].time_ns -= duration_ns;
  }
}

std::vector<uint64_t> RooflineSums::SteadyCalls(const StepSet& steps) const {
  std::vector<uint64_t> calls(rows_.size());
  for (const SteadyRows& rows :
       FindSteadyRows(store_, steps, threads_, store_.operator_calls.start_ns)) {
    for (size_t call = rows.begin; call < rows.end; ++call) {
      if (counted_[call]) ++calls[RowOf(call)];
    }
  }
  return calls;
}

Roofline RooflineSums::Of(const StepSet& steps) const {
  if (rows_.empty()) return {};
  std::vector<RooflineRow> rows = rows_;
  const std::vector<uint64_t> steady_calls = SteadyCalls(steps);
  const StepClock clock(store_, steps);
  Roofline roofline;
  if (store_.gpus.size() > 0) {
    roofline.peaks = PeaksOf(store_.Text(store_.gpus.name[0]), store_.gpus.Row(0));
  }
  std::map<std::pair<std::string_view, bool>, double> flops_by_type;
  int64_t known_ns = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    RooflineRow& row = rows[i];
    row.flops_per_step = clock.PerStep(row.flops * double(steady_calls[i]));
    roofline.flops_per_step += row.flops_per_step;
    known_ns += row.time_ns;
    if (matrix_[i]) flops_by_type[{row.dtype, row.tensor_cores}] += row.flops_per_step;
    SetRoof(roofline.peaks, row);
  }
  if (total_ns_ > 0) roofline.known_time_share = double(known_ns) / double(total_ns_);
  double most = 0;
  for (const auto& [type, flops] : flops_by_type) {
    if (flops <= most) continue;
    most = flops;
    roofline.peak_dtype = type.first;
    roofline.peak_tflops = PeakTflops(roofline.peaks, type.first, type.second);
  }
  if (clock.mean_ns() > 0) roofline.tflops = roofline.flops_per_step / clock.mean_ns() / 1e3;
  if (roofline.peak_tflops > 0) roofline.mfu = roofline.tflops / roofline.peak_tflops;
  std::erase_if(rows, [](const RooflineRow& row) { return row.calls == 0; });
  std::sort(rows.begin(), rows.end(), [&](const RooflineRow& a, const RooflineRow& b) {
    if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
    if (a.name != b.name) return store_.Text(a.name) < store_.Text(b.name);
    return store_.Text(a.inputs) < store_.Text(b.inputs);
  });
  roofline.rows = std::move(rows);
  return roofline;
}

Roofline AnalyzeRoofline(const Store& store, const StepSet& steps, const Attribution& work) {
  return RooflineSums(store, work).Of(steps);
}

}  // namespace batchlight
