#include "analysis/roofline/roofline.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/cuda/kernel_class.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/roofline/operator_cost.h"
#include "analysis/steps/step_clock.h"

namespace batchlight {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr std::string_view kUntyped = "t";  // type of a tensor of which only the sizes are known

class RooflineBuilder {
 public:
  RooflineBuilder(const Store& store, const StepSet& steps, const Attribution& work)
      : store_(store), calls_(store.operator_calls), work_(work), clock_(store, steps) {}

  Roofline Build() {
    row_of_call_.assign(calls_.size(), kNone);
    CountCalls();
    if (rows_.empty()) return {};
    if (work_.total_ns > 0) {
      AddGpuTime();
    } else {
      AddCpuTime();
    }
    return Finish();
  }

 private:
  // A composite operator counts only if nothing inside it was counted: children stand after their
  // parents, so that a walk from the back sees them first.
  void CountCalls() {
    std::vector<bool> counted_inside(calls_.size());
    for (size_t call = calls_.size(); call-- > 0;) {
      bool counted = counted_inside[call];
      if (!calls_.inputs[call].IsNone()) {
        const uint32_t row = RowOf(call);
        if (row != kNone && !(composite_[row] && counted)) {
          row_of_call_[call] = row;
          ++rows_[row].calls;
          counted |= rows_[row].flops > 0 && matrix_[row];
          if (clock_.IsSteady(calls_.thread[call], calls_.start_ns[call])) ++steady_calls_[row];
        }
      }
      const OperatorCallId parent = calls_.parent[call];
      if (counted && !parent.IsNone()) counted_inside[parent.row()] = true;
    }
  }

  uint32_t RowOf(size_t call) {
    const uint64_t key = (uint64_t{calls_.name[call].value} << 32) | calls_.inputs[call].value;
    const auto [found, added] = known_.try_emplace(key, kNone);
    if (!added) return found->second;
    const std::string_view name = store_.Text(calls_.name[call]);
    const OperatorCost cost = EstimateOperatorCost(name, store_.Text(calls_.inputs[call]));
    if (!cost.known) return kNone;
    found->second = static_cast<uint32_t>(rows_.size());
    RooflineRow row;
    row.name = calls_.name[call];
    row.inputs = calls_.inputs[call];
    row.flops = cost.flops;
    row.bytes = cost.bytes;
    row.dtype = cost.dtype;
    rows_.push_back(row);
    composite_.push_back(IsCompositeOperator(name));
    matrix_.push_back(cost.matrix);
    steady_calls_.push_back(0);
    return found->second;
  }

  // Work belongs to the innermost counted operator around it.
  void AddGpuTime() {
    total_ns_ = work_.total_ns;
    std::unordered_map<StringId, KernelClass> classes;
    const auto add = [&](const WorkOwner& owner, int64_t duration_ns) {
      for (OperatorCallId op = owner.op; !op.IsNone(); op = calls_.parent[op.row()]) {
        const uint32_t row = row_of_call_[op.row()];
        if (row == kNone) continue;
        rows_[row].time_ns += duration_ns;
        return row;
      }
      return kNone;
    };
    const KernelsTable& kernels = store_.kernels;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const uint32_t row = add(work_.kernels[i], kernels.end_ns[i] - kernels.start_ns[i]);
      if (row == kNone || rows_[row].tensor_cores) continue;
      const auto [found, added] = classes.try_emplace(kernels.demangled_name[i]);
      if (added) found->second = ClassifyKernel(store_.Text(kernels.demangled_name[i]));
      rows_[row].tensor_cores = found->second.tensor_core == TensorCoreUse::kYes;
      if (rows_[row].dtype == kUntyped) rows_[row].dtype = TypeOf(found->second.precision);
    }
    for (size_t i = 0; i < store_.memcpys.size(); ++i) {
      add(work_.memcpys[i], store_.memcpys.end_ns[i] - store_.memcpys.start_ns[i]);
    }
    for (size_t i = 0; i < store_.memsets.size(); ++i) {
      add(work_.memsets[i], store_.memsets.end_ns[i] - store_.memsets.start_ns[i]);
    }
  }

  // nsys's ranges of operators have sizes without types: those of the kernels, as far as names
  // tell.
  static std::string_view TypeOf(KernelPrecision precision) {
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

  // Without counted operators inside, so that no time counts twice.
  void AddCpuTime() {
    for (size_t call = 0; call < calls_.size(); ++call) {
      const int64_t duration_ns =
          ClosedEnd(store_, calls_.start_ns[call], calls_.end_ns[call]) - calls_.start_ns[call];
      OperatorCallId around = calls_.parent[call];
      if (around.IsNone()) total_ns_ += duration_ns;
      if (row_of_call_[call] == kNone) continue;
      rows_[row_of_call_[call]].time_ns += duration_ns;
      while (!around.IsNone() && row_of_call_[around.row()] == kNone) {
        around = calls_.parent[around.row()];
      }
      if (!around.IsNone()) rows_[row_of_call_[around.row()]].time_ns -= duration_ns;
    }
  }

  Roofline Finish() {
    Roofline roofline;
    if (store_.gpus.size() > 0) {
      roofline.peaks = PeaksOf(store_.Text(store_.gpus.name[0]), store_.gpus.Row(0));
    }
    std::map<std::pair<std::string_view, bool>, double> flops_by_type;
    int64_t known_ns = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      RooflineRow& row = rows_[i];
      row.flops_per_step = clock_.PerStep(row.flops * double(steady_calls_[i]));
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
    if (clock_.mean_ns() > 0) roofline.tflops = roofline.flops_per_step / clock_.mean_ns() / 1e3;
    if (roofline.peak_tflops > 0) roofline.mfu = roofline.tflops / roofline.peak_tflops;
    std::erase_if(rows_, [](const RooflineRow& row) { return row.calls == 0; });
    std::sort(rows_.begin(), rows_.end(), [&](const RooflineRow& a, const RooflineRow& b) {
      if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
      if (a.name != b.name) return store_.Text(a.name) < store_.Text(b.name);
      return store_.Text(a.inputs) < store_.Text(b.inputs);
    });
    roofline.rows = std::move(rows_);
    return roofline;
  }

  static void SetRoof(const GpuPeaks& peaks, RooflineRow& row) {
    const double peak_tflops = PeakTflops(peaks, row.dtype, row.tensor_cores);
    if (peaks.bandwidth_gbps <= 0 || row.bytes <= 0) return;
    const double ridge = peak_tflops > 0 ? peak_tflops * 1e3 / peaks.bandwidth_gbps : 0;
    row.memory_bound = peak_tflops <= 0 || row.flops / row.bytes < ridge;
    row.of_peak = row.memory_bound ? row.gbps() / peaks.bandwidth_gbps : row.tflops() / peak_tflops;
  }

  const Store& store_;
  const OperatorCallsTable& calls_;
  const Attribution& work_;
  StepClock clock_;
  std::vector<RooflineRow> rows_;
  std::vector<char> composite_;
  std::vector<char> matrix_;
  std::vector<uint64_t> steady_calls_;
  std::vector<uint32_t> row_of_call_;
  std::unordered_map<uint64_t, uint32_t> known_;
  int64_t total_ns_ = 0;
};

}  // namespace

Roofline AnalyzeRoofline(const Store& store, const StepSet& steps, const Attribution& work) {
  return RooflineBuilder(store, steps, work).Build();
}

}  // namespace batchlight
