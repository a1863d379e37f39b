// cuDNN's plans for shapes that it has not seen.
#include <algorithm>
#include <string>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/gpu/told_plans.h"
#include "analysis/advice/rules.h"

namespace batchlight::advice {
namespace {

const CudnnPlans* IfTold(const RunMeasures& run, const CudnnPlans& plans) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || plans.per_step_ns <= 0) return nullptr;
  const double slow = plans.slow_per_step * double(main->steady.size());
  if (plans.slow_per_step < kPlannedSteps || slow < kPlannedCalls) return nullptr;
  if (plans.slow_per_step < kPlannedPart * plans.calls_per_step) return nullptr;
  return plans.per_step_ns < kPlanShare * MeanStepNs(run) ? nullptr : &plans;
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

ToldPlans::ToldPlans(const RunMeasures& run)
    : convolutions_(IfTold(run, run.cudnn_plans.convolutions)),
      attention_(IfTold(run, run.cudnn_plans.attention)),
      times_algorithms_(convolutions_ != nullptr &&
                        TrainingProperty(run, "torch.cudnn_benchmark") == "True") {}

double ToldPlans::per_step_ns() const {
  return (convolutions_ == nullptr ? 0 : convolutions_->per_step_ns) +
         (attention_ == nullptr ? 0 : attention_->per_step_ns);
}

bool ToldPlans::Has(StringId name) const {
  const auto has = [&](const CudnnPlans* plans) {
    return plans != nullptr &&
           std::find(plans->names.begin(), plans->names.end(), name) != plans->names.end();
  };
  return has(convolutions_) || has(attention_);
}

bool ToldPlans::Holds(ThreadId thread, int64_t time_ns) const {
  const auto holds = [&](const CudnnPlans* plans) {
    if (plans == nullptr) return false;
    const auto spans = plans->spans.find(thread);
    return spans != plans->spans.end() && NsInside(spans->second, time_ns, time_ns + 1) > 0;
  };
  return holds(convolutions_) || holds(attention_);
}

// Each new shape: with benchmark=True all algorithms are run and timed, with memory of their own;
// without it kernels are chosen, and some of them compiled.
void CudnnPlansOfConvolutions(const RunMeasures& run, Findings* findings) {
  const ToldPlans plans(run);
  if (plans.convolutions() == nullptr) return;
  const bool times = plans.times_algorithms();
  const double behind_ns = times ? AllocationsOutside(run, plans).per_step_ns : 0;
  Finding finding = FindingOf(run, *plans.convolutions(), behind_ns);
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
  const ToldPlans plans(run);
  if (plans.attention() == nullptr) return;
  Finding finding = FindingOf(run, *plans.attention(), 0);
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
