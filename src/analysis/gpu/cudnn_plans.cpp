#include "analysis/gpu/cudnn_plans.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "analysis/cuda/cuda_call.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

constexpr std::array kConvolutionsOfCudnn = {
    std::string_view("aten::cudnn_convolution"),
    std::string_view("aten::cudnn_convolution_relu"),
    std::string_view("aten::cudnn_convolution_add_relu"),
    std::string_view("aten::cudnn_convolution_transpose"),
    std::string_view("aten::convolution_backward"),
};
constexpr std::array kAttentionOfCudnn = {
    std::string_view("aten::_scaled_dot_product_cudnn_attention"),
    std::string_view("aten::_scaled_dot_product_cudnn_attention_backward"),
    std::string_view("aten::_cudnn_attention_forward"),
    std::string_view("aten::_cudnn_attention_backward"),
};

// A call of such an operator in a steady step, in no other such call.
struct OperatorCall {
  uint32_t operator_index;  // of the names
  ThreadId thread;
  TimeSpan span;

  double ns() const { return double(span.end_ns - span.start_ns); }
};

class PlanFinder {
 public:
  PlanFinder(const Store& store, const ProcessSteps& main) : store_(store), main_(main) {}

  CudnnPlans Find(std::span<const std::string_view> names) {
    for (const std::string_view name : names) {
      const StringId id = store_.strings.Find(name);
      if (!id.IsNone()) operators_.push_back({.name = id});
    }
    if (operators_.empty()) return {};
    for (const OperatorCall& call : Calls()) Take(call);
    std::erase_if(operators_, [](const Operator& op) { return op.total_ns == 0; });
    std::stable_sort(operators_.begin(), operators_.end(),
                     [](const Operator& a, const Operator& b) { return a.total_ns > b.total_ns; });
    for (const Operator& op : operators_) found_.names.push_back(op.name);
    const auto steps = double(main_.steady.size());
    found_.per_step_ns /= steps;
    found_.calls_per_step /= steps;
    found_.slow_per_step /= steps;
    return std::move(found_);
  }

 private:
  struct Operator {
    StringId name;
    double fastest_ns = std::numeric_limits<double>::max();
    double total_ns = 0;
  };

  std::vector<OperatorCall> Calls() {
    std::vector<OperatorCall> found;
    const OperatorCallsTable& calls = store_.operator_calls;
    StepLookup steps(&main_);
    ThreadId thread;
    int64_t until_ns = INT64_MIN;
    for (uint32_t row = 0; row < calls.size(); ++row) {
      uint32_t index = 0;
      while (index < operators_.size() && operators_[index].name != calls.name[row]) ++index;
      if (index == operators_.size()) continue;
      if (calls.thread[row] == thread && calls.start_ns[row] < until_ns) continue;
      thread = calls.thread[row];
      until_ns = ClosedEnd(store_, calls.start_ns[row], calls.end_ns[row]);
      if (store_.ProcessOf(thread) != main_.process) continue;
      if (!steps.IsSteadyAt(calls.start_ns[row])) continue;
      found.push_back({index, thread, {calls.start_ns[row], until_ns}});
      Operator& op = operators_[index];
      op.fastest_ns = std::min(op.fastest_ns, found.back().ns());
      op.total_ns += found.back().ns();
    }
    return found;
  }

  void Take(const OperatorCall& call) {
    ++found_.calls_per_step;
    const double usual_ns =
        std::max(operators_[call.operator_index].fastest_ns, kPlanLeastNs / kPlanTimes);
    double took_ns = call.ns();
    if (took_ns < kPlanTimes * usual_ns) return;
    took_ns -= WaitsOfOthers(call.thread, call.span);
    if (took_ns < kPlanTimes * usual_ns) return;
    ++found_.slow_per_step;
    found_.per_step_ns += took_ns - usual_ns;
    found_.spans[call.thread].push_back(call.span);
  }

  // CUDA calls inside that are no part of planning: a launch that waits for room in the queue, and,
  // where no algorithms are timed, memory that cannot be had before the GPU is through.
  double WaitsOfOthers(ThreadId thread, const TimeSpan& span) const {
    const ApiCallsTable& calls = store_.api_calls;
    const ThreadSpans::Rows rows = api_threads_.Of(thread);
    const auto begin = calls.start_ns.begin();
    auto row = std::lower_bound(begin + rows.begin, begin + rows.end, span.start_ns) - begin;
    double all_ns = 0, launches_ns = 0;
    bool times = false;
    int64_t until_ns = INT64_MIN;
    for (; row < int64_t(rows.end) && calls.start_ns[row] < span.end_ns; ++row) {
      if (calls.start_ns[row] < until_ns) continue;  // a driver call in a runtime call
      until_ns = ClosedEnd(store_, calls.start_ns[row], calls.end_ns[row]);
      const double ns = double(until_ns - calls.start_ns[row]);
      const std::string_view name = store_.Text(calls.name[row]);
      all_ns += ns;
      if (IsLaunch(name) && ns > double(kLongLaunchNs)) launches_ns += ns;
      times = times || (IsWaitingCall(name) && !name.starts_with("cudaMemcpy"));
    }
    return times ? launches_ns : all_ns;
  }

  const Store& store_;
  const ProcessSteps& main_;
  ThreadSpans api_threads_{store_.api_calls.thread};
  std::vector<Operator> operators_;
  CudnnPlans found_;
};

}  // namespace

PlansOfCudnn FindCudnnPlans(const Store& store, const ProcessSteps* main) {
  if (main == nullptr || main->steady.empty() || store.kernels.size() == 0) return {};
  return {.convolutions = PlanFinder(store, *main).Find(kConvolutionsOfCudnn),
          .attention = PlanFinder(store, *main).Find(kAttentionOfCudnn)};
}

}  // namespace batchlight
