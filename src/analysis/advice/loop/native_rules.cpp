// Libraries beside PyTorch and CUDA that hold up the loop, by samples of native code.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/breakdown/native_parts.h"
#include "analysis/cpu/native_owner.h"
#include "analysis/lines/stack_lines.h"
#include "store/interval_index.h"

namespace batchlight::advice {
namespace {

struct NativeTime {
  int64_t ns = 0;
  uint64_t samples = 0;
  std::map<std::string, int64_t> functions;
  std::map<std::string, int64_t> parts;  // phases, or causes of idle time
};

// By library, of the loop's process.
std::map<NativeModuleId, NativeTime> TimesByLibrary(const Store& store, const SampleParts& parts,
                                                    ProcessId process, NativeCallees& callees) {
  std::map<NativeModuleId, NativeTime> times;
  for (const StackInPart& of : SumStacksByPart(store, parts)) {
    if (of.sampled.stack.IsNone() || store.ProcessOf(of.sampled.thread) != process) continue;
    const NativeCallee callee = callees.Of(of.sampled.stack);
    if (callee.module.IsNone()) continue;
    NativeTime& time = times[callee.module];
    time.ns += of.sampled.cpu_ns;
    time.samples += of.sampled.samples;
    time.functions[FrameName(store, callee.frame)] += of.sampled.cpu_ns;
    time.parts[parts.names[of.part]] += of.sampled.cpu_ns;
  }
  return times;
}

using Named = std::pair<std::string, int64_t>;

// By falling time, those that hold a tenth or more, at most three.
std::vector<Named> MostOf(const std::map<std::string, int64_t>& times, int64_t all_ns) {
  constexpr size_t kMostNamed = 3;
  std::vector<Named> most(times.begin(), times.end());
  std::stable_sort(most.begin(), most.end(),
                   [](const Named& a, const Named& b) { return a.second > b.second; });
  if (most.size() > kMostNamed) most.resize(kMostNamed);
  while (most.size() > 1 && double(most.back().second) < kNativeNamed * double(all_ns)) {
    most.pop_back();
  }
  return most;
}

std::string TextOfMost(const std::vector<Named>& most, int64_t all_ns, std::string_view quote) {
  std::string text;
  for (const auto& [name, ns] : most) {
    text += (text.empty() ? "" : ", ") + std::string(quote) + name + std::string(quote) + " (" +
            PercentOf(double(ns) / double(all_ns)) + ")";
  }
  return text;
}

// " Most of it is called by `Net.forward` (net.py:42).": what looks at Python found the thread in
// at the moments of these samples; "" where it was not looked at, or nothing has half of them.
std::string TextOfCaller(const Store& store, const SampleParts& parts, NativeModuleId module,
                         NativeCallees& callees) {
  const PythonSamplesTable& looks = store.python_samples;
  if (looks.size() == 0) return "";
  const StackLines lines(store);
  const IntervalIndex index(looks.thread, looks.start_ns, looks.end_ns);
  std::map<PythonFrameId, uint64_t> callers;
  uint64_t all = 0;
  for (size_t row = 0; row < parts.part.size(); ++row) {
    if (parts.part[row] == SampleParts::kNone) continue;
    if (callees.Of(store.cpu_samples.native_stack[row]).module != module) continue;
    ++all;
    const uint32_t look =
        index.Innermost(store.cpu_samples.thread[row], store.cpu_samples.start_ns[row]);
    if (look == kNoRow || looks.python_stack[look].IsNone()) continue;
    ++callers[lines.Of(looks.python_stack[look]).frame];
  }
  const auto most =
      std::max_element(callers.begin(), callers.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == callers.end() || most->first.IsNone() || 2 * most->second < all) return "";
  const PythonFramesRow place = store.python_frames.Row(most->first.row());
  return " Most of it is called by " +
         FunctionText(store, {.file = place.file,
                              .function = std::string(store.Text(place.function)),
                              .line = place.line}) +
         ".";
}

// Whether a finding names the code that costs this time, or most of it.
bool IsNamed(const Findings& findings, double per_step_ns) {
  constexpr std::string_view kNamers[] = {
      "python-work", "slow-function", "gpu-held-back",         "dataloader-wait",
      "deep-copies", "cpu-tensors",   "work-beside-the-model", "loader-iterators"};
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    const bool names =
        std::find(std::begin(kNamers), std::end(kNamers), finding.rule) != std::end(kNamers);
    // "`load` (train.py:7): 30 % of a step is your own Python"; without a name where Python was not
    // sampled.
    const bool has_name = finding.title.find(": ") != finding.title.npos;
    if (!names || (finding.rule == "python-work" && !has_name)) return false;
    return finding.gain_ns >= kNativeTold * per_step_ns;
  });
}

Finding FindingOf(const RunMeasures& run, NativeModuleId module, const NativeTime& time,
                  double per_step_ns, const std::string& caller) {
  const bool has_gpu = run.gpu.MainBreakdown() != nullptr;
  const std::string library = ModuleName(*run.store, module);
  const std::vector<Named> functions = MostOf(time.functions, time.ns);
  const std::string share = PercentOf(per_step_ns / MeanStepNs(run));
  Finding finding{
      .title = library + ": " + share + " of a step is in its native code" +
               (has_gpu ? " while the GPU waits" : ""),
      .seen = "CPU samples find the thread " +
              std::string(has_gpu ? "that launches" : "that runs the steps") + " in code that " +
              library + " runs for " + TimeOf(per_step_ns) + " of a step (" + share + ")" +
              (has_gpu ? " while the GPU has nothing to do: " : ": ") +
              TextOfMost(MostOf(time.parts, time.ns), time.ns, "") + "; most often in " +
              TextOfMost(functions, time.ns, "`") + "." + caller,
      .why = has_gpu ? "The GPU gets no work from a thread that does other work itself."
                     : "A step is as long as what its thread does, one after the other.",
      .action = (caller.empty() ? "See who calls it: `batchlight export -t speedscope --stacks=" +
                                      std::string(has_gpu ? "native-idle" : "native-phases") + "`. "
                                : "") +
                std::string("Do it once before the loop, in the DataLoader's workers or in fewer "
                            "steps") +
                (has_gpu ? ", or on the GPU." : "."),
      .kind = FindingKind::kSymptom};
  for (const auto& [name, ns] : functions) {
    finding.evidence.push_back({.kind = "native function",
                                .name = name,
                                .per_step_ns = per_step_ns * double(ns) / double(time.ns)});
  }
  return finding;
}

}  // namespace

void NativeWork(const RunMeasures& run, Findings* findings) {
  const Store& store = *run.store;
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || main->steady.empty() || step_ns <= 0) return;
  if (store.cpu_samples.size() == 0 || store.native_frames.size() == 0) return;
  const SampleParts parts = run.gpu.MainBreakdown() != nullptr
                                ? IdleCausesOfSamples(*run.inputs, run.steps)
                                : PhasesOfSamples(*run.inputs, run.steps);
  NativeCallees callees(store);
  const auto times = TimesByLibrary(store, parts, main->process, callees);
  const auto most = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) {
    return a.second.ns < b.second.ns;
  });
  if (most == times.end() || double(most->second.samples) < kNativeSamples) return;
  const double per_step_ns = double(most->second.ns) / double(main->steady.size());
  if (per_step_ns < kNativeShare * step_ns || IsNamed(*findings, per_step_ns)) return;
  findings->push_back(FindingOf(run, most->first, most->second, per_step_ns,
                                TextOfCaller(store, parts, most->first, callees)));
}

}  // namespace batchlight::advice
