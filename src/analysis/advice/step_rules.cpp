#include <algorithm>
#include <map>
#include <set>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

struct Saves {
  uint64_t count = 0;
  int64_t total_ns = 0;
  bool by_torch = true;  // torch.save alone, called by the program's own loop
};

// On the thread of the loop, from its first step on.
Saves FindSaves(const RunMeasures& run, const ProcessSteps& main) {
  Saves saves;
  const Store& store = *run.store;
  for (const PhaseMark& mark : run.inputs->marks.Outermost(main.thread, PhaseKind::kCheckpoint)) {
    if (mark.end_ns < main.steps.front().start_ns || store.Text(mark.name) == "torch.load") {
      continue;
    }
    ++saves.count;
    saves.by_torch = saves.by_torch && store.Text(mark.name) == "torch.save";
    saves.total_ns += mark.end_ns - mark.start_ns;
  }
  return saves;
}

Patch SaveBeside(const RunMeasures& run) {
  if (OwnerOfLoop(run) != LoopOwner::kProgram) return {};
  return {.place = RecordedPlace(run, "site.checkpoint"),
          .diff =
              "-torch.save(state, path)\n"
              "+copy = {key: value.detach()" +
              std::string(run.gpu.empty() ? "" : ".cpu()") +
              ".clone() for key, value in state.items()}\n"
              "+threading.Thread(target=torch.save, args=(copy, path)).start()\n"};
}

}  // namespace

void NoSteps(const RunMeasures& run, Findings* findings) {
  if (run.steps.Main() != nullptr) return;
  if (run.operators.calls + run.nvtx.ranges + run.gpu.kernel_count == 0) return;
  findings->push_back(
      {.title = "No training step was found",
       .seen = run.steps.how,
       .why = "Without steps there is no time per step, no breakdown and no estimate of gains.",
       .action = "Put a range around each step: with batchlight.annotate(\"step\"): ..., or name "
                 "what ends a step with --key."});
}

// The saving itself and what the loop does to the file before it goes on; nothing else of the steps
// that save, which may hold a validation too.
void CheckpointStall(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steps.empty() || main->thread.IsNone()) return;
  const Saves saves = FindSaves(run, *main);
  if (saves.count == 0) return;
  const double each_ns = double(saves.total_ns) / double(saves.count);
  const double per_step_ns = double(saves.total_ns) / double(main->steps.size());
  if (each_ns < kCheckpointStep * double(main->duration.median)) return;
  if (per_step_ns < kCheckpointShare * MeanStepNs(run)) return;
  findings->push_back(
      {.title = "Saving checkpoints stalls training",
       .seen = std::to_string(saves.count) + " checkpoints took " + TimeOf(each_ns) +
               " each, while a step takes " + TimeOf(double(main->duration.median)) + ".",
       .why = "The loop waits until the file is written.",
       .action = "Copy the state" + std::string(run.gpu.empty() ? "" : " to the CPU") +
                 " and write it in another thread or process "
                 "(torch.distributed.checkpoint.async_save), or save less often.",
       .gain_ns = per_step_ns * kCheckpointGain,
       .uncertainty_ns = per_step_ns * kCheckpointUncertainty,
       .evidence = {{.kind = "call", .name = "torch.save", .count = saves.count}},
       .patch = saves.by_torch ? SaveBeside(run) : Patch{}});
}

namespace {

// "torch.compile#`forward` (train.py:30)": what is compiled, where it was recorded.
std::string_view CompiledFunction(std::string_view name) {
  const size_t at = name.find('#');
  return at == name.npos ? std::string_view() : name.substr(at + 1);
}

// Compilations of the loop that come again: while it is steady, and before, where step after step
// compiles. What the first of these steps compiles is the program's first compilation.
struct Compilations {
  uint64_t count = 0;
  int64_t total_ns = 0;
  size_t steps = 0;                                // before the steady ones, that compile
  std::map<std::string_view, uint64_t> functions;  // how often each, where that was recorded
  bool repeats = false;                            // one of them was compiled before

  void Add(const Store& store, size_t row) {
    const PhaseCallsTable& phases = store.phase_calls;
    ++count;
    total_ns += phases.end_ns[row] - phases.start_ns[row];
    const std::string_view function = CompiledFunction(store.Text(phases.name[row]));
    if (!function.empty()) ++functions[function];
  }
  void Add(const Compilations& more) {
    count += more.count;
    total_ns += more.total_ns;
    for (const auto& [function, times] : more.functions) functions[function] += times;
  }
  // The one that compiled most often; nullptr: not known.
  const std::pair<const std::string_view, uint64_t>* Most() const {
    const auto most =
        std::max_element(functions.begin(), functions.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == functions.end() ? nullptr : &*most;
  }
};

bool IsOutermostCompilation(const PhaseCallsTable& phases, size_t row) {
  if (phases.phase[row] != Phase::kCompile || phases.end_ns[row] == kOpenEnd) return false;
  for (PhaseCallId above = phases.parent[row]; !above.IsNone();
       above = phases.parent[above.row()]) {
    if (phases.phase[above.row()] == Phase::kCompile) return false;
  }
  return true;
}

Compilations CompiledAgain(const Store& store, const ProcessSteps& main) {
  const PhaseCallsTable& phases = store.phase_calls;
  const int64_t steady_ns = main.steps[main.steady.front()].start_ns;
  const int64_t last_ns = main.steps[main.steady.back()].end_ns;
  Compilations early, found;
  std::set<size_t> early_steps;
  std::set<std::string_view>
      first;  // functions that the first compiling step, or what is before, compiles
  StepLookup lookup(&main);
  for (size_t row = 0; row < phases.size(); ++row) {
    const int64_t start_ns = phases.start_ns[row];
    if (!IsOutermostCompilation(phases, row) || start_ns >= last_ns) continue;
    if (store.threads.process[phases.thread[row].row()] != main.process) continue;
    if (start_ns >= steady_ns) {
      found.Add(store, row);
      continue;
    }
    const size_t step = lookup.RowAt(start_ns);
    if (step != StepLookup::kNone) early_steps.insert(step);
    if (step != StepLookup::kNone && step != *early_steps.begin()) {
      early.Add(store, row);
    } else {
      first.insert(CompiledFunction(store.Text(phases.name[row])));
    }
  }
  const bool many = double(early_steps.size()) > kCompilingSteps;
  if (many) found.Add(early);
  for (const auto& [function, times] : early.functions) {
    if (!many) first.insert(function);
  }
  for (const auto& [function, times] : found.functions) {
    found.repeats = found.repeats || first.contains(function);
  }
  found.steps = early_steps.size();
  return found;
}

}  // namespace

void Recompilation(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steady.empty()) return;
  const Compilations again = CompiledAgain(*run.store, *main);
  if (again.count == 0) return;
  const auto total_ns = double(again.total_ns);
  const auto* function = again.Most();
  const bool each_once = again.count > 1 && again.functions.size() == again.count && !again.repeats;
  const std::string name(function == nullptr || each_once ? "" : function->first);
  const bool gives_up = double(again.steps) >= kCompileLimit && !each_once;
  findings->push_back(
      {.title = each_once      ? "torch.compile still compiles while training"
                : name.empty() ? "torch.compile compiles again while training"
                               : name + ": torch.compile compiles it again while training",
       .seen = std::to_string(again.count) + " compilations after the first" +
               (name.empty() ? "" : ", " + std::to_string(function->second) + " of " + name + ",") +
               " took " + TimeOf(total_ns) + "." +
               (gives_up ? " After " + Rounded(kCompileLimit) +
                               " of one function (torch._dynamo.config.recompile_limit) PyTorch "
                               "gives up and runs it uncompiled."
                         : ""),
       .why = each_once ? "Each is of another function, that runs for the first time or was cut in "
                          "two by a graph break."
                        : "A guard failed: an input had a new size, or a Python value that was "
                          "compiled in changed, as a counter that an attribute holds.",
       .action =
           each_once
               ? "Run a batch of each kind before the loop; TORCH_LOGS=graph_breaks says what cuts "
                 "a function in two."
               : "Run with TORCH_LOGS=recompiles to see which guard. Keep a number that changes in "
                 "a tensor (a buffer, filled outside of what is compiled); mark changing sizes "
                 "with torch._dynamo.mark_dynamic, or pad the inputs to a few sizes.",
       .evidence = {{.kind = "call", .name = "torch.compile", .count = again.count}},
       .run_gain_ns = total_ns,
       .run_uncertainty_ns = total_ns * kRecompilationUncertainty});
}

}  // namespace batchlight::advice
