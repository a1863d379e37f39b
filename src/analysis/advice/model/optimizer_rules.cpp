// Optimizers that update each parameter on its own, on the GPU and on the CPU.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/model/phase_rows.h"
#include "analysis/advice/rules.h"
#include "analysis/cuda/cuda_call.h"
#include "analysis/numbers/closed_end.h"

namespace batchlight::advice {
namespace {

// The optimizer that the loop steps.
struct Optimizer {
  std::string name = "AdamW";
  std::string_view step;    // the name of its calls: "Optimizer.step#AdamW.step"; "": of a range
  bool can_fuse = false;    // in one call for all parameters
  bool can_foreach = true;  // in a call for each operation

  const char* argument() const { return can_fuse ? "fused=True" : "foreach=True"; }
  // A class of the program's own, or of a package: it takes neither.
  bool is_other() const { return !can_fuse && !can_foreach; }
};

// Those of torch.optim that take foreach=.
constexpr auto kForeach =
    std::to_array<std::string_view>({"ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax",
                                     "NAdam", "RAdam", "RMSprop", "Rprop", "SGD"});

Optimizer OptimizerOf(const RunMeasures& run) {
  Optimizer found;
  // "Optimizer.step#AdamW.step"
  const PhaseCallsTable& calls = run.store->phase_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.phase[row] != Phase::kOptimizerStep) continue;
    const std::string_view text = found.step = run.store->Text(calls.name[row]);
    const size_t begin = text.find('#') + 1, end = text.rfind(".step");
    if (begin != 0 && end != text.npos && begin < end) found.name = text.substr(begin, end - begin);
    break;
  }
  const std::string& name = found.name;
  const bool common = name == "Adam" || name == "AdamW" || name == "SGD";
  found.can_foreach =
      std::find(kForeach.begin(), kForeach.end(), std::string_view(name)) != kForeach.end();
  found.can_fuse =
      run.gpu.empty() ? (common || name == "Adagrad") && HasPyTorch(run, 2, 4) : common;
  return found;
}

// Groups of parameters, and of these how many differ in their options. Property
// "optimizer.groups.<name of its step>": "161 2". One that goes through its parameters one by one,
// as most classes of programs do, gains nothing by fewer groups.
struct ParameterGroups {
  uint32_t all = 1;
  uint32_t different = 1;

  bool merge() const { return all >= kMergeableGroups && all >= kGroupsToOne * different; }
};

ParameterGroups GroupsOf(const RunMeasures& run, const Optimizer& optimizer) {
  if (optimizer.is_other()) return {};
  const std::string key = "optimizer.groups." + std::string(optimizer.step);
  const std::string_view text = run.store->Property(key, run.steps.Main()->process);
  ParameterGroups groups;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, groups.all);
  if (error != std::errc() || rest == end) return {};
  const bool is_read = std::from_chars(rest + 1, end, groups.different).ec == std::errc();
  return is_read && groups.different > 0 ? groups : ParameterGroups();
}

Patch PatchOf(const RunMeasures& run, const Optimizer& optimizer) {
  const std::string call = "optimizer = torch.optim." + optimizer.name + "(parameters, lr=lr";
  return {.place = RecordedPlace(run, "site.optimizer"),
          .diff = "-" + call + ")\n+" + call + ", " + optimizer.argument() + ")\n"};
}

std::string ActionFor(const Optimizer& optimizer) {
  if (!optimizer.is_other()) {
    return std::string("Pass ") + optimizer.argument() + " to " + optimizer.name + ".";
  }
  return "Write the update of " + optimizer.name +
         " for all parameters at once: torch._foreach_mul_, torch._foreach_add_, "
         "torch._foreach_norm over lists of tensors; torch.where instead of an if on a tensor, "
         "which makes the CPU wait.";
}

// Of a function of the program's own that runs inside optimizer.step(): a hook's.
double OwnCodeInOptimizerNs(const RunMeasures& run) {
  const HotFunction& hot = run.loop_work.hot;
  return hot.phase == PhaseKind::kOptimizer ? hot.per_step_ns : 0;
}

// What steps of the optimizer give the GPU to do, ns a step.
double GpuWorkOfOptimizerNs(const RunMeasures& run, double steps) {
  StepLookup lookup(run.steps.Main());
  const PhaseCallsTable& phases = run.store->phase_calls;
  int64_t total_ns = 0;
  VisitWork(*run.store, run.work, [&](const WorkOwner& owner, int64_t ns, int64_t launched_ns) {
    if (owner.phase.IsNone() || !lookup.IsSteadyAt(launched_ns)) return;
    if (phases.phase[owner.phase.row()] == Phase::kOptimizerStep) total_ns += ns;
  });
  return double(total_ns) / std::max(1.0, steps);
}

// What steps of an optimizer that makes many kernels cost the CPU.
struct ManyKernels {
  double launches = 0;  // a step
  double waits = 0;     // calls that wait for the GPU, a step
  double ns = 0;        // a step, without a function of the program's own
  PhaseTime time;

  std::string Seen() const {
    return "The optimizer launches " + Rounded(launches) + " kernels a step and takes the CPU " +
           TimeOf(ns);
  }
  std::vector<Evidence> AsEvidence() const {
    return {{.kind = "call", .name = "Optimizer.step", .count = time.calls, .per_step_ns = ns}};
  }
};

std::optional<ManyKernels> FindManyKernels(const RunMeasures& run) {
  const Store& store = *run.store;
  uint64_t launches = 0, waiting = 0;
  const PhaseTime time =
      VisitInPhase(run, PhaseKind::kOptimizer, store.api_calls, [&](size_t call) {
        const std::string_view name = store.Text(store.api_calls.name[call]);
        launches += IsLaunch(name);
        waiting += IsWaitingCall(name);
      });
  const ManyKernels found{.launches = time.PerStep(launches),
                          .waits = time.PerStep(waiting),
                          .ns = time.per_step_ns() - OwnCodeInOptimizerNs(run),
                          .time = time};
  if (found.launches <= kOptimizerKernels || found.ns <= 0) return std::nullopt;
  return found;
}

// What of the optimizer's time on the CPU the GPU waits for.
double ExposedNs(const RunMeasures& run, double optimizer_ns) {
  return optimizer_ns * std::clamp(CpuExposure(run) * kOptimizerExposure, 0.0, 1.0);
}

struct OptimizerGain {
  double ns = 0;
  double uncertainty_ns = 0;
};

// `waits`: of a step, in the optimizer. Where each parameter waits for the GPU, the loop launches
// nothing ahead: neither the next update nor the next forward. Without that a step takes what the
// rest takes the CPU, or the GPU.
OptimizerGain GainOfFusing(const RunMeasures& run, double optimizer_ns, double waits,
                           double steps) {
  if (waits < kOptimizerWaits) {
    const double exposed_ns = ExposedNs(run, optimizer_ns);
    return {exposed_ns * kOptimizerGain, exposed_ns * kOptimizerUncertainty};
  }
  const double removable_ns = RemovableNs(run, optimizer_ns, GpuWorkOfOptimizerNs(run, steps));
  return {removable_ns * kWaitingOptimizerGain, removable_ns * kOptimizerUncertainty};
}

}  // namespace

void OptimizerOfManyGroups(const RunMeasures& run, Findings* findings) {
  if (run.steps.Main() == nullptr || run.gpu.kernel_count == 0) return;
  const Optimizer used = OptimizerOf(run);
  const ParameterGroups groups = GroupsOf(run, used);
  if (!groups.merge()) return;
  const std::optional<ManyKernels> many = FindManyKernels(run);
  if (!many) return;
  const double merging = 1 - double(groups.different) / groups.all;
  const double exposed_ns = ExposedNs(run, many->ns) * merging;
  findings->push_back(
      {.title = "The optimizer's parameters are in " + std::to_string(groups.all) +
                " groups, of which " + std::to_string(groups.different) +
                (groups.different == 1 ? " would do" : " differ"),
       .seen = many->Seen() + "; its " + std::to_string(groups.all) +
               " groups of parameters have " + std::to_string(groups.different) +
               " different sets of options.",
       .why = "An optimizer updates one group after the other, with launches and Python of its "
              "own each; foreach and fused updates take all parameters of a group at once.",
       .action = "Put parameters with equal options (learning rate, weight decay, ...) into one "
                 "group.",
       .gain_ns = exposed_ns * kGroupsGain,
       .uncertainty_ns = exposed_ns * kOptimizerUncertainty,
       .evidence = many->AsEvidence(),
       .patch = {.place = RecordedPlace(run, "site.optimizer"),
                 .diff = "-groups = [{\"params\": [p], **options(name)} for name, p in named]\n"
                         "+by_options = collections.defaultdict(list)\n"
                         "+for name, p in named: "
                         "by_options[tuple(options(name).items())].append(p)\n"
                         "+groups = [{\"params\": ps, **dict(o)} for o, ps in "
                         "by_options.items()]\n"}});
}

void UnfusedOptimizer(const RunMeasures& run, Findings* findings) {
  if (run.steps.Main() == nullptr || run.gpu.kernel_count == 0) return;
  const Optimizer used = OptimizerOf(run);
  if (GroupsOf(run, used).merge()) return;  // it makes its kernels for each group
  const std::optional<ManyKernels> many = FindManyKernels(run);
  if (!many || HasFusedUpdates(*run.store, run.steps.Main()->thread)) return;
  const OptimizerGain gain = GainOfFusing(run, many->ns, many->waits, many->time.steps);
  const bool waits_often = many->waits >= kOptimizerWaits;
  findings->push_back(
      {.title = "The optimizer updates each parameter with kernels of its own",
       .seen = many->Seen() +
               (waits_often ? "; " + Rounded(many->waits) + " times it waits for the GPU." : "."),
       .why = std::string("A fused optimizer updates all parameters in a handful "
                          "of launches") +
              (waits_often ? ", and waits for none: the next forward is launched "
                             "while the GPU still updates."
                           : "."),
       .action = ActionFor(used),
       .gain_ns = gain.ns,
       .uncertainty_ns = gain.uncertainty_ns,
       .evidence = many->AsEvidence(),
       .patch = used.is_other() ? Patch{} : PatchOf(run, used)});
}

// On the CPU a fused optimizer takes one call; a foreach one makes the same operators from C++, and
// saves what calling them from Python takes. With large parameters it is slower: it passes over
// memory that no longer fits a cache.
void ForeachOptimizerOnCpu(const RunMeasures& run, Findings* findings) {
  if (!run.gpu.empty() || run.steps.Main() == nullptr) return;
  const Store& store = *run.store;
  const OperatorCallsTable& calls = store.operator_calls;
  uint64_t operators = 0;
  int64_t inside_ns = 0, until_ns = INT64_MIN;
  const PhaseTime phase = VisitInPhase(run, PhaseKind::kOptimizer, calls, [&](size_t row) {
    const std::string_view name = store.Text(calls.name[row]);
    operators += !name.starts_with("aten::_f");  // _foreach_, _fused_
    if (calls.scope[row] == OperatorScope::kUser || calls.start_ns[row] < until_ns) return;
    until_ns = ClosedEnd(store, calls.start_ns[row], calls.end_ns[row]);
    inside_ns += until_ns - calls.start_ns[row];
  });
  if (phase.PerStep(operators) <= kOptimizerOperators) return;
  if (HasFusedUpdates(store, run.steps.Main()->thread)) return;
  const double step_ns = MeanStepNs(run);
  const double optimizer_ns = phase.per_step_ns() - OwnCodeInOptimizerNs(run);
  if (optimizer_ns < kOptimizerCpuShare * step_ns) return;
  const Optimizer used = OptimizerOf(run);
  const double calling_ns = optimizer_ns - double(inside_ns) / std::max(1.0, phase.steps);
  if (!used.can_fuse && !used.can_foreach) return;
  if (!used.can_fuse && calling_ns < kOptimizerCalling * optimizer_ns) return;
  const double gain_ns =
      used.can_fuse ? optimizer_ns * kFusedCpuGain : calling_ns * kForeachCpuGain;
  if (!CanBeSeen(run, gain_ns)) return;
  findings->push_back({.title = "The optimizer updates each parameter on its own",
                       .seen = "The optimizer runs " + Rounded(phase.PerStep(operators)) +
                               " operators a step in " + TimeOf(optimizer_ns) + " (" +
                               PercentOf(optimizer_ns / step_ns) + " of a step).",
                       .why = "Each operator costs a few microseconds beside its arithmetic.",
                       .action = std::string("Pass ") + used.argument() + " to " + used.name +
                                 (used.can_fuse ? "." : "; merge small parameters."),
                       .gain_ns = gain_ns,
                       .uncertainty_ns = gain_ns * kOptimizerCpuUncertainty,
                       .evidence = {{.kind = "call",
                                     .name = "Optimizer.step",
                                     .count = phase.calls,
                                     .per_step_ns = optimizer_ns}},
                       .patch = PatchOf(run, used)});
}

double UpdatedByHandNs(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->thread.IsNone()) return 0;
  const PhaseMarks& marks = run.inputs->marks;
  const ThreadSpans::Rows rows = marks.RowsOf(main->thread);
  bool by_hand = false;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    if (marks.all()[row].kind != PhaseKind::kOptimizer) continue;
    if (!marks.all()[row].implied) return 0;
    by_hand = true;
  }
  const double share = PhaseShareOf(run, PhaseKind::kOptimizer);
  if (!by_hand || share < kByHandShare) return 0;
  const double update_ns = share * MeanStepNs(run);
  return CanBeSeen(run, update_ns * CpuExposure(run) * kFusedCpuGain) ? update_ns : 0;
}

void UpdateByHand(const RunMeasures& run, Findings* findings) {
  const double update_ns = UpdatedByHandNs(run);
  if (update_ns <= 0) return;
  const double gain_ns = update_ns * CpuExposure(run) * kFusedCpuGain;
  const HotFunction& hot = run.loop_work.hot;
  const bool is_named = hot.phase == PhaseKind::kOptimizer && 2 * hot.per_step_ns > update_ns;
  findings->push_back(
      {.title = (is_named ? FunctionText(*run.store, hot.function) + " updates the parameters"
                          : "The program updates its parameters") +
                " itself, for " + PercentOf(update_ns / MeanStepNs(run)) + " of a step",
       .seen = "Behind its backward a step runs operators without gradients that write in place, "
               "for " +
               TimeOf(update_ns) + "; no optimizer of PyTorch is stepped.",
       .why = "Each operator passes over the parameters once more and makes a tensor for its "
              "result; a fused optimizer passes over them once.",
       .action = "Use torch.optim's optimizer with fused=True (Adam, AdamW, SGD), or its "
                 "torch._foreach_ operators on lists of all parameters.",
       .gain_ns = gain_ns,
       .uncertainty_ns = gain_ns * kOptimizerCpuUncertainty,
       .evidence = {{.kind = "phase", .name = "optimizer", .per_step_ns = update_ns}},
       .patch = {.place = "",
                 .diff = "-update(parameters)\n"
                         "+optimizer.step()  # torch.optim.Adam(parameters, lr=lr, fused=True)\n"
                         "+optimizer.zero_grad()\n"}});
}

namespace {

constexpr std::string_view kDenseGradient = "aten::embedding_dense_backward";

// What dense gradients of embeddings cost a step: time of the CPU, or the GPU's work.
struct DenseGradients {
  uint64_t calls = 0;
  double optimizer_ns = 0;
  double ns = 0;            // of these gradients
  double zeros_ns = 0;      // of that, writing zeros
  double removable_ns = 0;  // of that, what sparse ones do without
  double backward_ns = 0;
};

DenseGradients DenseGradientsOnCpu(const RunMeasures& run) {
  const Store& store = *run.store;
  const OperatorCallsTable& calls = store.operator_calls;
  DenseGradients dense;
  int64_t all_ns = 0, zeros_ns = 0;
  const PhaseTime backward = VisitInPhase(run, PhaseKind::kBackward, calls, [&](size_t row) {
    const std::string_view name = store.Text(calls.name[row]);
    const OperatorCallId parent = calls.parent[row];
    const bool gradient = name == kDenseGradient;
    const bool zeros = name == "aten::zeros" && !parent.IsNone() &&
                       store.Text(calls.name[parent.row()]) == kDenseGradient;
    if (!gradient && !zeros) return;
    dense.calls += gradient ? 1 : 0;
    (gradient ? all_ns : zeros_ns) +=
        ClosedEnd(store, calls.start_ns[row], calls.end_ns[row]) - calls.start_ns[row];
  });
  dense.optimizer_ns =
      MeanStepNs(run) * PhaseShareOf(run, PhaseKind::kOptimizer) - OwnCodeInOptimizerNs(run);
  dense.ns = dense.removable_ns = double(all_ns) / std::max(1.0, backward.steps);
  dense.zeros_ns = double(zeros_ns) / std::max(1.0, backward.steps);
  dense.backward_ns = backward.per_step_ns();
  return dense;
}

// On the GPU the rows of the batch are summed up either way; writing zeros is what goes.
DenseGradients DenseGradientsOnGpu(const RunMeasures& run) {
  const Store& store = *run.store;
  const OperatorCallsTable& operators = store.operator_calls;
  const ProcessSteps* main = run.steps.Main();
  DenseGradients dense;
  std::vector<bool> in_optimizer(store.api_calls.size());
  VisitInPhase(run, PhaseKind::kOptimizer, store.api_calls,
               [&](size_t call) { in_optimizer[call] = true; });
  StepLookup lookup(main);
  std::set<uint32_t> gradients;
  const auto add = [&](const auto& table, const std::vector<WorkOwner>& owners) {
    for (size_t row = 0; row < owners.size(); ++row) {
      const ApiCallId call = table.api_call[row];
      if (call.IsNone() || table.end_ns[row] == kOpenEnd) continue;
      if (table.process[row] != main->process) continue;
      if (!lookup.IsSteadyAt(store.api_calls.start_ns[call.row()])) continue;
      const auto ns = double(table.end_ns[row] - table.start_ns[row]);
      if (in_optimizer[call.row()]) dense.optimizer_ns += ns;
      if (owners[row].backward) dense.backward_ns += ns;
      bool zeros = false;
      for (OperatorCallId op = owners[row].op; !op.IsNone(); op = operators.parent[op.row()]) {
        const std::string_view name = store.Text(operators.name[op.row()]);
        zeros = zeros || name == "aten::zero_" || name == "aten::fill_";
        if (name != kDenseGradient) continue;
        dense.ns += ns;
        if (zeros) dense.removable_ns += ns;
        gradients.insert(static_cast<uint32_t>(op.row()));
        break;
      }
    }
  };
  add(store.kernels, run.work.kernels);
  add(store.memsets, run.work.memsets);
  dense.calls = gradients.size();
  const auto steps = double(main->steady.size());
  for (double* ns : {&dense.optimizer_ns, &dense.backward_ns, &dense.ns, &dense.removable_ns}) {
    *ns /= steps;
  }
  dense.zeros_ns = dense.removable_ns;
  return dense;
}

// Of the optimizer's time, what it takes for the embeddings: all where their gradients are much of
// backward, else as many passes over them as it makes, each as long as writing their zeros.
double OptimizerOfEmbeddingsNs(const DenseGradients& dense) {
  if (dense.ns >= kDenseBackward * dense.backward_ns) return dense.optimizer_ns;
  return std::min(dense.optimizer_ns, kDensePasses * dense.zeros_ns);
}

// What is to be stepped with gradients that are sparse: those of PyTorch that take them.
std::string SparseOptimizer(const std::string& used) {
  if (used.starts_with("Adam") && used != "Adamax") return "SparseAdam";
  return used == "Adagrad" ? used : "SGD";
}

}  // namespace

// A dense gradient of an embedding is as large as its table: it is filled with zeros, and the
// optimizer passes over all rows, whichever the batch used.
void DenseEmbeddingGradients(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  const ProcessSteps* main = run.steps.Main();
  if (step_ns <= 0 || main == nullptr || main->steady.empty()) return;
  const bool has_gpu = !run.gpu.empty();
  const DenseGradients dense = has_gpu ? DenseGradientsOnGpu(run) : DenseGradientsOnCpu(run);
  const double optimizer_ns = OptimizerOfEmbeddingsNs(dense);
  if (dense.calls == 0 || optimizer_ns < kDenseOptimizer * step_ns) return;
  const double charged_ns = WithinCpuSlack(run, optimizer_ns + dense.removable_ns);
  const std::string used = OptimizerOf(run).name, sparse = SparseOptimizer(used);
  // It has a loop of its own, and sorting the rows of each gradient waits for the GPU.
  const double tables = double(dense.calls) / double(main->steady.size());
  const double stepping_ns = sparse == "SparseAdam" ? tables * kSparseTableNs : 0;
  const double gain_ns = charged_ns * kDenseGain - stepping_ns;
  if (!CanBeSeen(run, gain_ns)) return;
  const std::string step = sparse == used
                               ? "; " + used + " takes their gradients as they are"
                               : " and step them with torch.optim." + sparse +
                                     " (other parameters with an optimizer of their own)";
  findings->push_back(
      {.title = "The optimizer updates all rows of the embeddings, whichever a batch used",
       .seen = std::string("The optimizer takes ") + (has_gpu ? "the GPU " : "") +
               TimeOf(dense.optimizer_ns) + " of a step (" +
               PercentOf(dense.optimizer_ns / step_ns) + "), dense gradients of embeddings " +
               TimeOf(dense.ns) + ", " + PercentOf(dense.ns / dense.backward_ns) + " of backward.",
       .why = "A dense gradient is as large as its table: zeros are written for every row that the "
              "batch did not use, and read again by the optimizer.",
       .action = "Make the embeddings with sparse=True" + step + "; not where weights are tied.",
       .gain_ns = gain_ns,
       .uncertainty_ns = charged_ns * kDenseUncertainty,
       .evidence = {{.kind = "operator",
                     .name = std::string(kDenseGradient),
                     .count = dense.calls,
                     .per_step_ns = dense.ns}},
       .patch = {.place = RecordedPlace(run, "site.optimizer"),
                 .diff = "-nn.Embedding(rows, width)\n+nn.Embedding(rows, width, sparse=True)\n" +
                         (sparse == used ? std::string()
                                         : "+optimizer = torch.optim." + sparse +
                                               "(model.embedding.parameters(), lr=lr)\n")}});
}

}  // namespace batchlight::advice
