// Calls of modules that compute what is known or not wanted, by what the bridge saw in a few calls
// of the model (python/batchlight/_bridge/_torch_repeats.py).
#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/module_callers.h"
#include "analysis/advice/rules.h"
#include "analysis/steps/step_lookup.h"
#include "base/split.h"
#include "store/interval_index.h"

namespace batchlight::advice {
namespace {

// "60 50 encode": calls that were looked at, how many of them were repeats, path.
struct Repeats {
  double share = 0;  // of the calls
  std::string_view path;
};

// Takes the first word of the text off, a number; 0 where it is none.
double TakeNumber(std::string_view& text) {
  double number = 0;
  ReadNumber(TakeUntil(text, ' '), number);
  return number;
}

struct RepeatedCalls {
  const ModuleRow* module = nullptr;
  double per_input = 0;        // calls with the same input
  double share = 0;            // of its calls that are repeats
  bool with_backward = false;  // one backward follows for all calls with an input
  double per_step_ns = 0;      // what repeats take
};

RepeatedCalls CostOf(const RunMeasures& run, const ProcessSteps& main, Repeats repeats) {
  RepeatedCalls calls{.module = ModuleOf(run, repeats.path), .share = repeats.share};
  if (calls.module == nullptr || calls.share <= 0 || calls.share >= 1) return {};
  const ModuleRow& row = *calls.module;
  const double inputs = row.calls_per_step * (1 - calls.share);
  calls.per_input = 1 / (1 - calls.share);
  constexpr double kNearlyOne = 0.5;  // the window's share is not quite that of all steps
  calls.with_backward = BackwardsPerStep(run, main) <= inputs + kNearlyOne;
  const bool on_gpu = !run.gpu.empty();
  const double forward_ns = on_gpu ? row.gpu_per_step_ns : row.total_per_step_ns;
  const double backward_ns = on_gpu ? row.gpu_backward_per_step_ns : row.backward_per_step_ns;
  calls.per_step_ns = (forward_ns + (calls.with_backward ? backward_ns : 0)) * calls.share;
  return calls;
}

}  // namespace

double BackwardsPerStep(const RunMeasures& run, const ProcessSteps& main) {
  StepLookup steps(&main);
  size_t count = 0;
  for (const PhaseMark& mark : run.inputs->marks.Outermost(main.thread, PhaseKind::kBackward)) {
    count += steps.IsSteadyAt(mark.start_ns);
  }
  return double(count) / double(main.steady.size());
}

void RepeatedForward(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || main->steady.empty() || main->thread.IsNone() || step_ns <= 0) return;
  RepeatedCalls most;
  for (std::string_view told = TrainingProperty(run, "model.repeats"); !told.empty();) {
    std::string_view line = TakeLine(told);
    const double calls = TakeNumber(line);
    const double repeats = TakeNumber(line);
    if (calls <= 0) continue;
    const RepeatedCalls found = CostOf(run, *main, {.share = repeats / calls, .path = line});
    if (found.per_step_ns > most.per_step_ns) most = found;
  }
  if (most.module == nullptr || most.module->calls_per_step < 1) return;
  if (most.per_step_ns < kRepeatedForward * step_ns) return;
  const double removable_ns =
      run.gpu.empty() ? most.per_step_ns : WithinCpuSlack(run, EffectiveNs(run, most.per_step_ns));
  const double gain_ns = removable_ns * kRepeatedForwardGain;
  if (!CanBeSeen(run, gain_ns)) return;
  const ModuleRow& row = *most.module;
  const std::string name = '`' + row.path + '`';
  const std::string share = PercentOf(most.per_step_ns / step_ns);
  const bool whole_model = row.depth == 0;
  findings->push_back(
      {.title = name + " runs " + MeanCountText(most.per_input) + " times on the same input, " +
                share + " of a step",
       .seen = "It is called " + MeanCountText(row.calls_per_step) + " times a step, and " +
               PercentOf(most.share) +
               " of these calls had the input and the parameters of one before" +
               (run.gpu.empty() ? ", and the same output" : "") + ". Their forward" +
               (most.with_backward ? " and backward take " : " takes ") + TimeOf(most.per_step_ns) +
               " of a step (" + share + ")." +
               (most.with_backward
                    ? ""
                    : " Several backwards a step follow, which each need their own time."),
       .why = "The same input makes the same output, and autograd sums up the gradients of all "
              "uses of one output.",
       .action = whole_model
                     ? "Call it once for each batch, before what loops over tasks or losses, and "
                       "use its output in all of them."
                     : "Call it once, before the loop, and use its output in each round.",
       .gain_ns = gain_ns,
       .uncertainty_ns = removable_ns * kRepeatedForwardUncertainty,
       .evidence = {{.kind = "module",
                     .name = row.path,
                     .count = row.calls,
                     .per_step_ns = most.per_step_ns}},
       .patch = {.place = CallerOfModule(run, row.path),
                 .diff = whole_model ? "-losses = [loss(model(x)[t], y[t]) for t in tasks]\n"
                                       "+outputs = model(x)\n"
                                       "+losses = [loss(outputs[t], y[t]) for t in tasks]\n"
                                     : "-for t in range(steps):\n"
                                       "-    h = self.cell(self.encode(x), h)\n"
                                       "+encoded = self.encode(x)\n"
                                       "+for t in range(steps):\n"
                                       "+    h = self.cell(encoded, h)\n"}});
}

namespace {

// Lists of experts that all compute all tokens.
struct ExpertLists {
  std::vector<std::string_view> parents;  // paths of what calls them, one for each list
  double experts = 0;                     // of a list, the largest
  double chosen = 0;                      // 0: not known
  double per_step_ns = 0;                 // of all experts, forward and backward
  double idle_ns = 0;                     // of those that are not chosen
};

// Adds "8 2 blocks.0.moe.experts": experts, those that are chosen, path of the list.
void AddList(const RunMeasures& run, std::string_view line, ExpertLists* lists) {
  const double experts = TakeNumber(line);
  const double chosen = TakeNumber(line);
  if (experts <= 0 || chosen < 0 || chosen >= experts || line.empty()) return;
  const std::string start = std::string(line) + '.';
  const bool on_gpu = !run.gpu.empty();
  double ns = 0;
  int32_t parent = -1;
  for (const ModuleRow& row : run.modules.rows) {
    if (!row.path.starts_with(start) || row.parent < 0) continue;
    if (row.path.find_first_not_of("0123456789", start.size()) != std::string::npos) continue;
    ns += on_gpu ? row.gpu_per_step_ns + row.gpu_backward_per_step_ns
                 : row.total_per_step_ns + row.backward_per_step_ns;
    parent = row.parent;
  }
  if (parent < 0) return;
  constexpr double kUnknown = 0.5;
  lists->parents.push_back(run.modules.rows[static_cast<size_t>(parent)].path);
  lists->experts = std::max(lists->experts, experts);
  lists->chosen = std::max(lists->chosen, chosen);
  lists->per_step_ns += ns;
  lists->idle_ns += ns * (chosen > 0 ? 1 - chosen / experts : kUnknown);
}

// Whether one of the modules, or what it calls, takes the largest of some numbers in a steady step:
// heads of a model with several outputs do not.
bool ChoosesByTopK(const RunMeasures& run, const ProcessSteps& main,
                   const std::vector<std::string_view>& paths) {
  const OperatorCallsTable& operators = run.store->operator_calls;
  const ModuleCallsTable& calls = run.store->module_calls;
  const std::unordered_set<std::string_view> parents(paths.begin(), paths.end());
  const IntervalIndex modules(calls.thread, calls.start_ns, calls.end_ns);
  StepLookup steps(&main);
  const ThreadSpans::Rows rows = ThreadSpans(operators.thread).Of(main.thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const int64_t at_ns = operators.start_ns[row];
    if (run.store->Text(operators.name[row]) != "aten::topk" || !steps.IsSteadyAt(at_ns)) continue;
    for (uint32_t call = modules.Innermost(main.thread, at_ns); call != kNoRow;
         call = modules.Outer(call, at_ns)) {
      if (parents.contains(run.store->Text(calls.path[call]))) return true;
    }
  }
  return false;
}

}  // namespace

void DenseExperts(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || main->steady.empty() || main->thread.IsNone() || step_ns <= 0) return;
  ExpertLists lists;
  for (std::string_view told = TrainingProperty(run, "model.experts"); !told.empty();) {
    AddList(run, TakeLine(told), &lists);
  }
  if (lists.parents.empty() || lists.idle_ns < kDenseExperts * step_ns) return;
  if (!ChoosesByTopK(run, *main, lists.parents)) return;
  const double removable_ns =
      run.gpu.empty() ? lists.idle_ns : WithinCpuSlack(run, EffectiveNs(run, lists.idle_ns));
  const double gain_ns = removable_ns * kDenseExpertsGain;
  if (!CanBeSeen(run, gain_ns)) return;
  const bool known = lists.chosen > 0;
  const size_t others = lists.parents.size() - 1;
  const std::string name = '`' + std::string(lists.parents.front()) + '`';
  const std::string count = MeanCountText(lists.experts);
  const std::string who = others == 0 ? name + " computes"
                          : others == 1
                              ? name + " and another compute"
                              : name + " and " + std::to_string(others) + " others compute";
  findings->push_back(
      {.title = who + " all " + count + " experts for all tokens" +
                (known ? ", the router chooses " + MeanCountText(lists.chosen) : ""),
       .seen = "All " + count + " experts are given the same tensor; they take " +
               TimeOf(lists.per_step_ns) + " of a step (" + PercentOf(lists.per_step_ns / step_ns) +
               "), forward and backward.",
       .why = "What an expert computes for a token that chose others is multiplied by zero.",
       .action = "Give each expert the tokens that chose it, and add its outputs where they came "
                 "from.",
       .gain_ns = gain_ns,
       .uncertainty_ns = known ? removable_ns * kDenseExpertsUncertainty : gain_ns,
       .evidence = {{.kind = "module",
                     .name = std::string(lists.parents.front()),
                     .per_step_ns = lists.per_step_ns}},
       .patch = {.place = "",
                 .diff = "-for i, expert in enumerate(self.experts):\n"
                         "-    out = out + gates[:, i, None] * expert(x)\n"
                         "+for i, expert in enumerate(self.experts):\n"
                         "+    rows = gates[:, i].nonzero().squeeze(1)\n"
                         "+    y = gates[rows, i, None] * expert(x[rows])\n"
                         "+    out = out.index_add(0, rows, y)\n"}});
}

}  // namespace batchlight::advice
