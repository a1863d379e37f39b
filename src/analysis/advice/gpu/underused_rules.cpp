// That a GPU idles, and which finding is about its largest cause.
#include <algorithm>
#include <cctype>
#include <span>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/code_hints.h"
#include "analysis/advice/gpu/part_evidence.h"
#include "analysis/advice/rules.h"

namespace batchlight::advice {
namespace {

using RuleIds = std::span<const std::string_view>;

constexpr std::string_view kOfLoading[] = {"dataloader-wait", "loader-iterators",
                                           "dataloader-restart"};
constexpr std::string_view kOfCompilation[] = {"recompilation"};
constexpr std::string_view kOfWaits[] = {"host-sync", "masked-loop", "launch-blocking",
                                         "unfused-optimizer", "slow-function"};
constexpr std::string_view kOfLaunches[] = {
    "launch-bound",     "small-kernels",     "small-operators", "unfused-optimizer",
    "optimizer-groups", "cells-in-a-loop",   "masked-loop",     "unfused-updates",
    "slow-function",    "anomaly-detection", "gpu-held-back",   "repeated-backward"};
constexpr std::string_view kOfCpuTensors[] = {"cpu-tensors", "gpu-held-back", "python-work",
                                              "unfused-updates"};
constexpr std::string_view kOfPython[] = {"python-work",        "gpu-held-back",   "slow-function",
                                          "deep-copies",        "unfused-updates", "launch-bound",
                                          "garbage-collection", "pageable-copy"};
constexpr std::string_view kOfWaiting[] = {"python-work", "gpu-held-back"};
constexpr std::string_view kOfGil[] = {"gil-wait"};
constexpr std::string_view kOfProcessors[] = {"cpu-limit", "cpu-taken", "cpu-oversubscribed",
                                              "too-many-threads"};
constexpr std::string_view kOfSharing[] = {"gpu-shared"};

// Rules that are about this part of the GPU's idle time.
RuleIds RulesOf(GpuPart part) {
  switch (part) {
    case GpuPart::kIdleDataLoading:
      return kOfLoading;
    case GpuPart::kIdleCompile:
      return kOfCompilation;
    case GpuPart::kIdleSynchronization:
      return kOfWaits;
    case GpuPart::kIdleLaunch:
    case GpuPart::kIdleOperators:
    case GpuPart::kIdleAutograd:
      return kOfLaunches;
    case GpuPart::kIdleCpuTensors:
      return kOfCpuTensors;
    case GpuPart::kIdleModel:
    case GpuPart::kIdleOptimizer:
    case GpuPart::kIdleOwnPython:
    case GpuPart::kIdlePython:
      return kOfPython;
    case GpuPart::kIdleSystemCall:
    case GpuPart::kIdleWaiting:
      return kOfWaiting;
    case GpuPart::kIdleGil:
      return kOfGil;
    case GpuPart::kIdleNoProcessor:
      return kOfProcessors;
    case GpuPart::kIdleElsewhere:
      return kOfSharing;
    default:
      return {};
  }
}

// Where no finding is about it.
const char* ActionFor(GpuPart part) {
  switch (part) {
    case GpuPart::kIdleRecorder:
      return "Nothing: the program does not do that without batchlight. Record more steps, or "
             "leave out the first ones (--first-step).";
    case GpuPart::kIdleQueue:
      return "The CPU is not in its way: less and larger work (a larger batch, several tensors "
             "copied as one) has fewer such pauses.";
    case GpuPart::kIdleSystemCall:
      return "`batchlight table os_calls` says which calls these are, and `lock_waits` who had "
             "the lock.";
    case GpuPart::kIdleLaunch:
    case GpuPart::kIdleOperators:
    case GpuPart::kIdleAutograd:
      return "A larger batch gives every launch more work.";
    default:
      return "`batchlight view` shows what the CPU was at then.";
  }
}

}  // namespace

void GpuUnderused(const RunMeasures& run, Findings* findings) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr || gpu->window.count == 0 || gpu->busy_share >= kBusyGpu) return;
  const GpuPart largest = LargestIdlePart(*gpu);
  Finding finding{.title = "The GPU is idle " + PercentOf(1 - gpu->busy_share) + " of the time"};
  for (size_t i = static_cast<size_t>(GpuPart::kIdleDataLoading); i < kGpuPartCount; ++i) {
    const GpuPart part = static_cast<GpuPart>(i);
    if (GpuShare(run, part) >= kIdleCause) {
      finding.evidence.push_back(PartOf(run, part));
    }
  }
  LargestFirst(finding.evidence);
  finding.seen = "Of a step's " + TimeOf(gpu->window.mean) + " on the GPU " +
                 PercentOf(gpu->busy_share) + " is work. The largest cause of idle time is \"" +
                 std::string(GpuPartName(largest)) + "\", " + PercentOf(GpuShare(run, largest)) +
                 " of the step.";
  if (IsIdleInPython(largest)) {
    const std::string names = FunctionTexts(*run.store, gpu->idle_python);
    if (!names.empty()) finding.seen += " The CPU is then mostly in " + names + ".";
  }
  finding.why = std::string(GpuPartHelp(largest)) + ".";
  finding.why[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(finding.why[0])));
  finding.kind = FindingKind::kSymptom;
  findings->push_back(std::move(finding));
}

void PointAtCause(const RunMeasures& run, Findings* findings) {
  const auto underused =
      std::find_if(findings->begin(), findings->end(),
                   [](const Finding& finding) { return finding.rule == "gpu-underused"; });
  if (underused == findings->end()) return;
  const GpuPart largest = LargestIdlePart(*run.gpu.MainBreakdown());
  const RuleIds rules = RulesOf(largest);
  const auto cause = std::find_if(findings->begin(), findings->end(), [&](const Finding& finding) {
    return finding.kind != FindingKind::kSymptom &&
           std::find(rules.begin(), rules.end(), finding.rule) != rules.end();
  });
  underused->action = cause == findings->end()
                          ? ActionFor(largest)
                          : "See \"" + cause->title + "\" (" + std::string(cause->rule) + ").";
}

}  // namespace batchlight::advice
