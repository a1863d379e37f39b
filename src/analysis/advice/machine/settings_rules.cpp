#include <algorithm>
#include <optional>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/lines/code_samples.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/quantile.h"
#include "analysis/owners/autograd_numbers.h"
#include "analysis/roofline/operator_cost.h"
#include "analysis/steps/step_clock.h"

namespace batchlight::advice {
namespace {

constexpr std::string_view kEngine = "autograd::engine::evaluate_function";

// Innermost time of every operator, without the operators inside.
std::vector<int64_t> OwnTimes(const OperatorCallsTable& operators) {
  std::vector<int64_t> own(operators.size());
  for (size_t row = 0; row < operators.size(); ++row) {
    if (operators.end_ns[row] == kOpenEnd) continue;
    const int64_t took_ns = operators.end_ns[row] - operators.start_ns[row];
    own[row] += took_ns;
    if (!operators.parent[row].IsNone()) own[operators.parent[row].row()] -= took_ns;
  }
  return own;
}

// An operator that autograd follows itself, not only operators inside of it: the next one, inside
// or behind, has another number.
bool TakesNumber(const OperatorCallsTable& operators, size_t row) {
  if (!HasOwnNumber(operators, row)) return false;
  for (size_t next = row + 1;
       next < operators.size() && operators.thread[next] == operators.thread[row]; ++next) {
    if (HasOwnNumber(operators, next)) return operators.sequence[next] != operators.sequence[row];
  }
  return false;
}

// What anomaly detection adds to a step: a stack trace in every operator that autograd follows, and
// a look for NaN at every gradient. The cheapest of these operators, views of a tensor, do little
// but take the trace.
struct Anomaly {
  double cost_ns = 0;     // 0: not known
  double traces_ns = 0;   // of a step, as sampled; 0: not known
  double checks_ns = 0;   // of a step
  size_t functions = 0;   // of backward
  size_t looked_for = 0;  // NaN, right in the engine

  // A hook of the program's own looks at gradients of parameters only.
  bool IsOn() const { return functions > 0 && looked_for * 2 >= functions; }
};

bool CallsEveryStep(const RunMeasures& run, std::string_view name) {
  return std::any_of(
      run.operators.by_name.begin(), run.operators.by_name.end(), [&](const OperatorRow& row) {
        return row.calls_per_step >= kCallOfEveryStep && run.store->Text(row.name) == name;
      });
}

bool IsInTraceback(const Store& store, PythonStackId stack) {
  for (; !stack.IsNone(); stack = store.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store.python_stacks.frame[stack.row()];
    if (frame.IsNone()) continue;
    if (store.Text(store.python_frames.file[frame.row()]).ends_with("/traceback.py")) return true;
  }
  return false;
}

// Of a step, in Python's module that makes the stack traces. An operator's shortest calls show them
// without what they wait for a processor, of which a step has its part: on a busy machine they are
// too small a part of it.
double SampledTracesNs(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->thread.IsNone()) return 0;
  std::vector<TimeSpan> steps;
  for (const uint32_t step : main->steady) {
    AddSpan(steps, main->steps[step].start_ns, main->steps[step].end_ns);
  }
  const CodeSamples samples(*run.store);
  if (samples.empty()) return 0;
  double all_ns = 0, traced_ns = 0;
  size_t looks = 0;
  for (const CodeLook& look : samples.LooksIn(main->thread, steps)) {
    ++looks;
    all_ns += double(look.ns);
    if (IsInTraceback(*run.store, look.stack)) traced_ns += double(look.ns);
  }
  return double(looks) < kTraceLooks || all_ns <= 0 ? 0 : traced_ns / all_ns * MeanStepNs(run);
}

Anomaly MeasureAnomaly(const RunMeasures& run) {
  Anomaly found;
  const Store& store = *run.store;
  const OperatorCallsTable& operators = store.operator_calls;
  const std::vector<int64_t> own_ns = OwnTimes(operators);
  StepClock clock(store, run.steps);
  std::vector<int64_t> traced_ns;
  int64_t checks_ns = 0;
  for (uint32_t row = 0; row < operators.size(); ++row) {
    if (!clock.IsSteady(operators.thread[row], operators.start_ns[row])) continue;
    found.functions += store.Text(operators.name[row]).starts_with(kEngine);
    if (TakesNumber(operators, row)) {
      traced_ns.push_back(own_ns[row]);
      continue;
    }
    if (operators.parent[row].IsNone()) continue;
    const std::string_view name = store.Text(operators.name[row]);
    const std::string_view around = store.Text(operators.name[operators.parent[row].row()]);
    const bool is_check =
        name == "aten::isnan" || name == "aten::any" || name == "aten::is_nonzero";
    if (is_check && around.starts_with(kEngine)) {
      found.looked_for += name == "aten::isnan";
      checks_ns += ClosedEnd(store, operators.start_ns[row], operators.end_ns[row]) -
                   operators.start_ns[row];
    }
  }
  if (traced_ns.empty()) return found;
  const auto traces = double(traced_ns.size());
  const double trace_ns = double(LowerQuantile(traced_ns, kCheapOperators));
  found.cost_ns = clock.PerStep(trace_ns * traces + double(checks_ns));
  found.checks_ns = clock.PerStep(double(checks_ns));
  found.traces_ns = SampledTracesNs(run);
  return found;
}

}  // namespace

void LaunchBlocking(const RunMeasures& run, Findings* findings) {
  const std::string_view value = TrainingProperty(run, "environment.CUDA_LAUNCH_BLOCKING");
  // Without a GPU it does nothing.
  if (value.empty() || value == "0" || run.gpu.empty()) return;
  const double idle_ns = GpuPartNs(run, GpuPart::kIdleSynchronization) + LaunchIdleNs(run);
  findings->push_back({.title = "CUDA_LAUNCH_BLOCKING makes every launch wait",
                       .seen = "CUDA_LAUNCH_BLOCKING=" + std::string(value) + " is set.",
                       .why = "It is for finding errors: CPU and GPU never work at the same time.",
                       .action = "Unset CUDA_LAUNCH_BLOCKING.",
                       .gain_ns = idle_ns * kBlockingGain,
                       .uncertainty_ns = idle_ns * kBlockingUncertainty,
                       .evidence = {{.kind = "setting", .name = "CUDA_LAUNCH_BLOCKING"}}});
}

namespace {

bool IsAnomalySet(const RunMeasures& run) {
  return TrainingProperty(run, "torch.anomaly_detection") == "True";
}

// Nothing where it is off. A trainer may switch it on for its loop only, where no setting is read.
std::optional<Anomaly> FindAnomaly(const RunMeasures& run) {
  const bool is_set = IsAnomalySet(run);
  if (!is_set && !CallsEveryStep(run, "aten::isnan")) return std::nullopt;
  const Anomaly anomaly = MeasureAnomaly(run);
  return is_set || anomaly.IsOn() ? std::optional(anomaly) : std::nullopt;
}

double GainWithout(const Anomaly& anomaly, double step_ns) {
  if (anomaly.traces_ns > 0) {
    return std::min(anomaly.traces_ns * kSampledTraces + anomaly.checks_ns, step_ns * kMostAnomaly);
  }
  return anomaly.cost_ns > 0 ? std::min(anomaly.cost_ns * kAnomalyBeside, step_ns * kMostAnomaly)
                             : step_ns * kAnomalyGain;
}

}  // namespace

double AnomalyNs(const RunMeasures& run) {
  const std::optional<Anomaly> anomaly = FindAnomaly(run);
  return anomaly ? GainWithout(*anomaly, MeanStepNs(run)) : 0;
}

void AnomalyDetection(const RunMeasures& run, Findings* findings) {
  const std::optional<Anomaly> found = FindAnomaly(run);
  if (!found) return;
  const Anomaly& anomaly = *found;
  const double gain_ns = GainWithout(anomaly, MeanStepNs(run));
  if (gain_ns <= 0) return;
  const bool is_set = IsAnomalySet(run);
  findings->push_back(
      {.title = "Autograd's anomaly detection is on",
       .seen = is_set ? "torch.autograd.set_detect_anomaly(True) was in effect while training."
                      : "Autograd looks for NaN " + std::to_string(anomaly.looked_for) +
                            " times in the " + std::to_string(anomaly.functions) +
                            " functions of the steady steps' backwards.",
       .why = std::string("It takes a stack trace in every operator and checks every gradient for "
                          "NaN") +
              (run.gpu.empty() ? "." : ", which also makes the CPU wait for the GPU."),
       .action = std::string("Leave it off except while looking for a NaN") +
                 (is_set ? "." : " (Lightning: Trainer(detect_anomaly=False))."),
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kAnomalyUncertainty,
       .evidence = {{.kind = "setting", .name = "set_detect_anomaly"}},
       .patch = {.place = RecordedPlace(run, "site.anomaly"),
                 .diff = is_set ? "-torch.autograd.set_detect_anomaly(True)\n"
                                  "+torch.autograd.set_detect_anomaly(False)\n"
                                : ""}});
}

namespace {

// What made the model float64, as far as that was seen: who, and what to write instead.
struct MadeDouble {
  std::string seen;
  std::string diff =
      "-model = model.double()\n"
      "+model, x = model.float(), x.float()\n";
};

MadeDouble FindMadeDouble(const RunMeasures& run, std::string_view place) {
  const std::string_view by = TrainingProperty(run, "torch.float64_by");
  if (place.empty()) return {};
  const std::string at = " (" + std::string(place) + ").";
  if (by == "set_default_dtype") {
    return {.seen = " They are made under torch.set_default_dtype(torch.float64)" + at,
            .diff =
                "-torch.set_default_dtype(torch.float64)\n"
                "+torch.set_default_dtype(torch.float32)\n"};
  }
  if (by == "parameters") {
    return {.seen = " They are float64 when the model is made" + at,
            .diff =
                "-dtype=torch.float64\n"
                "+dtype=torch.float32\n"};
  }
  return {.seen = " " + std::string(by) + " makes the model so" + at,
          .diff = by == "Module.double" ? MadeDouble().diff
                                        : "-model.to(dtype)\n"
                                          "+model, x = model.to(torch.float32), x.float()\n"};
}

}  // namespace

// What operators compute a step, on the CPU; `most_ns` where they were not recorded. An LSTM's
// cells of 12 x 51 numbers gain 16 % of a step by 32 bits, as each call takes longer than its
// arithmetic.
double ArithmeticNs(const RunMeasures& run, double most_ns) {
  if (run.operators.by_name.empty()) return most_ns;
  double ns = 0;
  for (const OperatorRow& row : run.operators.by_name) {
    if (!run.store->Text(row.name).starts_with("aten::")) continue;
    ns += std::max(0.0, row.self_per_step_ns - row.calls_per_step * kDoubleCallNs);
  }
  return std::min(ns, most_ns);
}

// Parameters in 64 bits are mostly made by data that is: NumPy's, which has no other by default.
void DoublePrecision(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  const double share = NumberProperty(run, "torch.float64_parameters");
  if (step_ns <= 0 || share < kDoubleShare) return;
  const bool has_gpu = !run.gpu.empty();
  const double work_ns =
      has_gpu ? step_ns * (GpuShare(run, GpuPart::kTensorCore) + GpuShare(run, GpuPart::kCompute))
              : ArithmeticNs(run, step_ns * (PhaseShareOf(run, PhaseKind::kForward) +
                                             PhaseShareOf(run, PhaseKind::kLoss) +
                                             PhaseShareOf(run, PhaseKind::kBackward) +
                                             PhaseShareOf(run, PhaseKind::kOptimizer)));
  const double gain_ns = work_ns * kDoubleGain * share;
  if (!CanBeSeen(run, gain_ns)) return;
  const std::string place = RecordedPlace(run, "site.float64");
  MadeDouble made = FindMadeDouble(run, place);
  findings->push_back(
      {.title = "The model computes in double precision",
       .seen = PercentOf(share) + " of the numbers that optimizers update are float64." + made.seen,
       .why = std::string("Numbers of 64 bits take twice the memory and ") +
              (has_gpu ? "at least twice" : "about twice") +
              " the arithmetic of 32 bits, which training hardly ever needs.",
       .action = "Train in float32: take out what makes the model float64 (.double(), "
                 "dtype=torch.float64, torch.set_default_dtype), and convert the data (NumPy makes "
                 "float64: x.astype(\"float32\"), tensor.float()).",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kDoubleUncertainty,
       .evidence = {{.kind = "setting", .name = "float64 parameters"}},
       .patch = {.place = place, .diff = std::move(made.diff)}});
}

void HalfPrecisionOnCpu(const RunMeasures& run, Findings* findings) {
  const Store& store = *run.store;
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || !run.gpu.empty() || store.Property("machine.avx512") != "no") return;
  const std::string_view type = store.Property("model.half_on_cpu", main->process);
  if (type.empty()) return;
  double products_ns = 0;
  for (const OperatorRow& row : run.operators.by_name) {
    if (IsMatrixOperator(store.Text(row.name))) products_ns += row.self_per_step_ns;
  }
  const double step_ns = MeanStepNs(run);
  if (step_ns <= 0 || products_ns < kHalfProducts * step_ns) return;
  const double gain_ns = products_ns * kHalfGain;
  findings->push_back(
      {.title = "The CPU computes in " + std::string(type) + " without instructions for it",
       .seen = "Modules return torch." + std::string(type) +
               " (autocast, or a model of that type), and products of matrices and convolutions "
               "take " +
               TimeOf(products_ns) + " of a step. The processor has no AVX-512.",
       .why = "Without it PyTorch has plain loops for them, which are several times as slow as "
              "its kernels for float32.",
       .action = "Compute in float32 on such a processor: leave torch.autocast(\"cpu\") out (or "
                 "enabled=False; Lightning: precision=\"32-true\"), or call model.float().",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kHalfUncertainty,
       .evidence = {{.kind = "setting", .name = std::string(type), .per_step_ns = products_ns}},
       .patch = {.place = "",
                 .diff = "-with torch.autocast(\"cpu\", dtype=torch." + std::string(type) +
                         "):\n"
                         "+with torch.autocast(\"cpu\", enabled=False):\n"}});
}

namespace {

// Of a step, in operators that are long enough to be shared among threads.
double SharedOperatorsNs(const RunMeasures& run) {
  double ns = 0;
  for (const OperatorRow& row : run.operators.by_name) {
    if (row.self_per_step_ns >= kSharedOperatorNs * row.calls_per_step) ns += row.self_per_step_ns;
  }
  return ns;
}

}  // namespace

void TooManyThreads(const RunMeasures& run, Findings* findings) {
  const int threads = static_cast<int>(NumberProperty(run, "torch.threads"));
  const int processors = UsableProcessors(run);
  const int processes = static_cast<int>(run.steps.processes.size());
  if (threads == 0 || processors == 0 || processes == 0) return;
  const double computing = double(threads) * processes;
  if (computing <= kThreadsPerProcessor * processors) return;
  // An operator ends with the thread that had its turn last. A GPU computes the rest.
  const double gain_ns =
      run.gpu.empty() ? SharedOperatorsNs(run) * (1 - processors / computing) : 0;
  findings->push_back(
      {.title = "More computing threads than processors",
       .seen = std::to_string(processes) + " training process" + (processes == 1 ? "" : "es") +
               " with " + std::to_string(threads) + " threads each share " +
               std::to_string(processors) + " processors.",
       .why = "Threads that take turns on a processor wait for each other at the end of every "
              "operator.",
       .action = "torch.set_num_threads(" + std::to_string(std::max(1, processors / processes)) +
                 ") or OMP_NUM_THREADS in the environment; in DataLoader workers it is 1 already.",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kThreadsUncertainty,
       .evidence = {{.kind = "setting", .name = "torch.get_num_threads()"}},
       .patch = {.place = RecordedPlace(run, "site.threads"), .diff = ""}});
}

// A GPU that is busy all the time gains nothing from a larger batch, whatever its memory.
void MemoryUnderused(const RunMeasures& run, Findings* findings) {
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  const double total = NumberProperty(run, "torch.gpu_memory_bytes");
  const double peak = NumberProperty(run, "torch.peak_reserved_bytes");
  if (gpu == nullptr || total == 0 || peak == 0 || peak > kMemoryUse * total) return;
  if (gpu->busy_share > kBusyGpu) return;
  findings->push_back(
      {.title = "Most of the GPU's memory is unused",
       .seen = "At most " + Rounded(peak / 1e9) + " of " + Rounded(total / 1e9) +
               " GB were reserved, and the GPU is busy " + PercentOf(gpu->busy_share) +
               " of the time.",
       .why = "A larger batch gives every launch more work for the same cost of launching.",
       .action = "Raise the batch size (and the learning rate with it); activations grow with it, "
                 "parameters and optimizer state do not.",
       .evidence = {{.kind = "setting", .name = "torch.cuda.max_memory_reserved()"}}});
}

}  // namespace batchlight::advice
