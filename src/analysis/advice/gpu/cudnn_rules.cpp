// cuDNN's plans: which kernel computes a convolution or an attention of these sizes is looked for
// when sizes come that it has not seen, and kept.
#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/gpu/cudnn_plans.h"
#include "analysis/advice/rules.h"
#include "analysis/cuda/cuda_call.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight::advice {
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

// Calls of operators with one of these names, none of which lies in another.
class PlanFinder {
 public:
  PlanFinder(const RunMeasures& run, const ProcessSteps& main)
      : run_(run), store_(*run.store), main_(main) {}

  CudnnPlans Find(std::span<const std::string_view> names) {
    for (const OperatorRow& row : run_.operators.by_name) {
      const std::string_view name = store_.Text(row.name);
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
      found_.names.push_back(row.name);
      fastest_ns_.push_back(row.min_ns);
    }
    if (found_.names.empty()) return {};
    const OperatorCallsTable& calls = store_.operator_calls;
    ThreadId thread;
    int64_t until_ns = INT64_MIN;
    for (uint32_t row = 0; row < calls.size(); ++row) {
      const auto name = std::find(found_.names.begin(), found_.names.end(), calls.name[row]);
      if (name == found_.names.end()) continue;
      if (calls.thread[row] == thread && calls.start_ns[row] < until_ns) continue;
      thread = calls.thread[row];
      until_ns = ClosedEnd(store_, calls.start_ns[row], calls.end_ns[row]);
      Take(thread, {calls.start_ns[row], until_ns}, fastest_ns_[name - found_.names.begin()]);
    }
    const auto steps = double(std::max<size_t>(1, main_.steady.size()));
    found_.per_step_ns /= steps;
    found_.calls_per_step /= steps;
    found_.slow_per_step /= steps;
    return std::move(found_);
  }

 private:
  void Take(ThreadId thread, const TimeSpan& span, int64_t fastest_ns) {
    if (store_.ProcessOf(thread) != main_.process || !steps_.IsSteadyAt(span.start_ns)) return;
    ++found_.calls_per_step;
    const double usual_ns = std::max(double(fastest_ns), kPlanLeastNs / kPlanTimes);
    double took_ns = double(span.end_ns - span.start_ns);
    if (took_ns < kPlanTimes * usual_ns) return;
    took_ns -= WaitsOfOthers(thread, span);
    if (took_ns < kPlanTimes * usual_ns) return;
    ++found_.slow_per_step;
    found_.per_step_ns += took_ns - usual_ns;
    found_.spans[thread].push_back(span);
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
      if (IsLaunch(name) && ns > kLongLaunchNs) launches_ns += ns;
      times = times || (IsWaitingCall(name) && !name.starts_with("cudaMemcpy"));
    }
    return times ? launches_ns : all_ns;
  }

  const RunMeasures& run_;
  const Store& store_;
  const ProcessSteps& main_;
  StepLookup steps_{&main_};
  ThreadSpans api_threads_{store_.api_calls.thread};
  CudnnPlans found_;
  std::vector<int64_t> fastest_ns_;
};

CudnnPlans PlansOf(const RunMeasures& run, std::span<const std::string_view> names) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steady.empty() || run.gpu.empty()) return {};
  CudnnPlans found = PlanFinder(run, *main).Find(names);
  const double slow = found.slow_per_step * double(main->steady.size());
  if (found.slow_per_step < kPlannedSteps || slow < kPlannedCalls) return {};
  return found.per_step_ns < kPlanShare * MeanStepNs(run) ? CudnnPlans() : std::move(found);
}

bool TimesAlgorithms(const RunMeasures& run) {
  return TrainingProperty(run, "torch.cudnn_benchmark") == "True";
}

// "aten::cudnn_convolution and aten::convolution_backward"
std::string NamesText(const RunMeasures& run, const CudnnPlans& plans) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(2, plans.names.size()); ++i) {
    text += (i == 0 ? "" : " and ") + std::string(run.store->Text(plans.names[i]));
  }
  return text;
}

Finding FindingOf(const RunMeasures& run, const CudnnPlans& plans, double behind_ns) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  const double step_ns = MeanStepNs(run);
  const double most_ns = gpu == nullptr ? step_ns : gpu->window.mean;
  const double removable_ns = std::min(plans.per_step_ns + behind_ns, most_ns);
  return {.seen = Rounded(plans.slow_per_step) + " of " + Rounded(plans.calls_per_step) +
                  " calls of " + NamesText(run, plans) +
                  " in a step take many times as long as the same at its fastest, together " +
                  TimeOf(plans.per_step_ns) + " of a step (" +
                  PercentOf(plans.per_step_ns / step_ns) + ").",
          .gain_ns = removable_ns * kPlanGain,
          .uncertainty_ns = removable_ns * kPlanUncertainty,
          .evidence = {{.kind = "operator",
                        .name = std::string(run.store->Text(plans.names.front())),
                        .per_step_ns = plans.per_step_ns}}};
}

}  // namespace

CudnnPlans ConvolutionPlans(const RunMeasures& run) { return PlansOf(run, kConvolutionsOfCudnn); }

CudnnPlans AttentionPlans(const RunMeasures& run) { return PlansOf(run, kAttentionOfCudnn); }

ToldPlans::ToldPlans(const RunMeasures& run)
    : plans_{ConvolutionPlans(run), AttentionPlans(run)},
      empty_the_cache_(plans_[0].per_step_ns > 0 && TimesAlgorithms(run)) {}

bool ToldPlans::Has(StringId name) const {
  return std::any_of(std::begin(plans_), std::end(plans_), [&](const CudnnPlans& plans) {
    return std::find(plans.names.begin(), plans.names.end(), name) != plans.names.end();
  });
}

bool ToldPlans::Holds(ThreadId thread, int64_t time_ns) const {
  return std::any_of(std::begin(plans_), std::end(plans_), [&](const CudnnPlans& plans) {
    const auto spans = plans.spans.find(thread);
    return spans != plans.spans.end() && NsInside(spans->second, time_ns, time_ns + 1) > 0;
  });
}

// Each new shape: with benchmark=True all algorithms are run and timed, with memory of their own;
// without it kernels are chosen, and some of them compiled.
void CudnnPlansOfConvolutions(const RunMeasures& run, Findings* findings) {
  const CudnnPlans plans = ConvolutionPlans(run);
  if (plans.per_step_ns <= 0) return;
  const bool times = TimesAlgorithms(run);
  const double behind_ns = times ? AllocationsOutside(run, ToldPlans(run)).per_step_ns : 0;
  Finding finding = FindingOf(run, plans, behind_ns);
  if (behind_ns > 0) {
    finding.seen += " PyTorch then gives back its unused memory, and takes " + TimeOf(behind_ns) +
                    " of a step to have it again.";
  }
  finding.title = times ? "cuDNN times its convolutions anew for shapes it has not seen"
                        : "cuDNN plans its convolutions anew for shapes it has not seen";
  finding.why =
      times ? "With torch.backends.cudnn.benchmark = True every new shape of an input is computed "
              "with each algorithm, to keep the fastest: allocated for, run, waited for, and "
              "thrown away. That pays where shapes come again."
            : "For every new shape of an input cuDNN looks for kernels, and compiles some.";
  finding.action =
      times ? "torch.backends.cudnn.benchmark = False while shapes change; or pad inputs to a few "
              "shapes (lengths to multiples of 64 or 128, a fixed batch size), which come again."
            : "Pad inputs to a few shapes (lengths to multiples of 64 or 128, a fixed batch size), "
              "which come again.";
  if (times) {
    finding.patch = {.place = "",
                     .diff =
                         "-torch.backends.cudnn.benchmark = True\n"
                         "+torch.backends.cudnn.benchmark = False\n"};
  }
  findings->push_back(std::move(finding));
}

void CudnnPlansOfAttention(const RunMeasures& run, Findings* findings) {
  const CudnnPlans plans = AttentionPlans(run);
  if (plans.per_step_ns <= 0) return;
  Finding finding = FindingOf(run, plans, 0);
  finding.title = "cuDNN's attention is planned anew for shapes it has not seen";
  finding.why =
      "cuDNN makes and compiles a plan for every new shape of queries and keys, forward and "
      "backward, on the CPU.";
  finding.action =
      "Another backend, which needs no plans: torch.backends.cuda.enable_cudnn_sdp(False), or "
      "with torch.nn.attention.sdpa_kernel(SDPBackend.FLASH_ATTENTION); or pad lengths to a few "
      "values (multiples of 64 or 128) and keep the batch size, so that shapes come again.";
  finding.patch = {.place = "", .diff = "+torch.backends.cuda.enable_cudnn_sdp(False)\n"};
  findings->push_back(std::move(finding));
}

}  // namespace batchlight::advice
