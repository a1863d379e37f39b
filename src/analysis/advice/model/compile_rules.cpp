// torch.compile that compiles again and again, and which guard had it do so, as the bridge recorded
// it (python/batchlight/_bridge/_torch_compilation.py).
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
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
  TimeSpan longest{};
  bool repeats = false;  // one of them was compiled before

  void Add(const Store& store, size_t row) {
    const PhaseCallsTable& phases = store.phase_calls;
    ++count;
    total_ns += phases.end_ns[row] - phases.start_ns[row];
    KeepLonger(longest, {phases.start_ns[row], phases.end_ns[row]});
    const std::string_view function = CompiledFunction(store.Text(phases.name[row]));
    if (!function.empty()) ++functions[function];
  }
  void Add(const Compilations& more) {
    count += more.count;
    total_ns += more.total_ns;
    KeepLonger(longest, more.longest);
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

// Guards of one function's earlier compilations that failed.
struct FailedGuards {
  size_t count = 0;       // that were recorded
  size_t alike = 0;       // of these: of the most frequent kind, which differ in numbers alone
  std::string_view text;  // the first of these
};

std::string WithoutNumbers(std::string_view text) {
  std::string kind(text);
  std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
  return kind;
}

// Of compile.guard.0, ...: "`Net.forward` (net.py:30)<tab>why".
FailedGuards GuardsOf(const RunMeasures& run, std::string_view function) {
  struct Kind {
    std::string_view text;
    size_t count = 0;
  };
  FailedGuards guards;
  std::map<std::string, Kind> kinds;
  for (int i = 0;; ++i) {
    const std::string_view told = TrainingProperty(run, "compile.guard." + std::to_string(i));
    const size_t tab = told.find('\t');
    if (tab == told.npos) break;
    if (told.substr(0, tab) != function) continue;
    const std::string_view text = told.substr(tab + 1);
    Kind& kind = kinds[WithoutNumbers(text)];
    if (kind.count == 0) kind.text = text;
    ++kind.count;
    ++guards.count;
    if (kind.count > guards.alike) {
      guards.alike = kind.count;
      guards.text = kind.text;
    }
  }
  return guards;
}

// Of "tensor 'x' size mismatch at index 1. expected 37, actual 41", or, in older versions of
// PyTorch, "tensor 'L['x']' ...".
struct ChangedSize {
  std::string tensor;
  std::string dimension;  // "": it is no size
};

ChangedSize SizeOf(std::string_view guard) {
  constexpr std::string_view kTensor = "tensor '", kSize = "' size mismatch at index ";
  const size_t end = guard.find(kSize);
  if (!guard.starts_with(kTensor) || end == guard.npos) return {};
  std::string_view name = guard.substr(kTensor.size(), end - kTensor.size());
  if (name.starts_with("L['") && name.find("']") == name.size() - 2) {
    name = name.substr(3, name.size() - 5);
  }
  const std::string_view index = guard.substr(end + kSize.size());
  return {.tensor = std::string(name),
          .dimension = std::string(index.substr(0, index.find_first_not_of("0123456789")))};
}

struct GuardAdvice {
  std::string why, action;
  std::string mark;  // a line of Python that makes the size a variable
};

GuardAdvice AdviceOn(std::string_view guard) {
  const ChangedSize size = SizeOf(guard);
  if (!size.dimension.empty()) {
    const std::string mark =
        "torch._dynamo.mark_dynamic(" + size.tensor + ", " + size.dimension + ")";
    return {.why = "Dimension " + size.dimension + " of `" + size.tensor +
                   "` had another size than what was compiled for.",
            .action = "Mark this dimension as one that changes, " + mark +
                      " before the call, or compile with dynamic=True; or pad it to a few sizes.",
            .mark = mark};
  }
  constexpr std::string_view kNumbersChange =
      "Keep a number that changes in a tensor (a buffer, filled outside of what is compiled)";
  if (guard.find(" == ") != guard.npos) {
    return {.why = "A Python value that was compiled in changed.",
            .action = std::string(kNumbersChange) + ", or take it out of what is compiled."};
  }
  if (guard.starts_with("GLOBAL_STATE")) {
    return {.why = "A setting of PyTorch differs between the calls.",
            .action =
                "Compile a function of its own for each setting (training, validation), or "
                "run a batch of each before the loop."};
  }
  if (!guard.empty()) {
    return {.why = "A guard failed: what was compiled does not fit what the call is given.",
            .action =
                "Call it with what does not change, or run a batch of each kind before the "
                "loop; TORCH_LOGS=recompiles shows the lines of the program."};
  }
  return {.why =
              "A guard failed: an input had a new size, or a Python value that was "
              "compiled in changed, as a counter that an attribute holds.",
          .action = "Run with TORCH_LOGS=recompiles to see which guard. " +
                    std::string(kNumbersChange) +
                    "; mark changing sizes with torch._dynamo.mark_dynamic, or pad the inputs to "
                    "a few sizes."};
}

std::string GuardText(const FailedGuards& guards) {
  if (guards.count == 0) return "";
  return " The guard that failed" +
         (guards.count == 1
              ? std::string()
              : ", as in " + std::to_string(guards.alike) + " of " + std::to_string(guards.count)) +
         ": " + std::string(guards.text) + ".";
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
  const FailedGuards guards = each_once ? FailedGuards{} : GuardsOf(run, name);
  const GuardAdvice advice = AdviceOn(guards.text);
  findings->push_back(
      {.title = each_once      ? "torch.compile still compiles while training"
                : name.empty() ? "torch.compile compiles again while training"
                               : name + ": torch.compile compiles it again while training",
       .seen = std::to_string(again.count) + " compilations after the first" +
               (name.empty() ? "" : ", " + std::to_string(function->second) + " of " + name + ",") +
               " took " + TimeOf(total_ns) + "." + GuardText(guards) +
               (gives_up ? " After " + Rounded(kCompileLimit) +
                               " of one function (torch._dynamo.config.recompile_limit) PyTorch "
                               "gives up and runs it uncompiled."
                         : ""),
       .why = each_once ? "Each is of another function, that runs for the first time or was cut in "
                          "two by a graph break."
                        : advice.why,
       .action = each_once ? "Run a batch of each kind before the loop; TORCH_LOGS=graph_breaks "
                             "says what cuts a function in two."
                           : advice.action,
       .evidence = {{.kind = "call",
                     .name = "torch.compile",
                     .count = again.count,
                     .longest = again.longest}},
       .run_gain_ns = total_ns,
       .run_uncertainty_ns = total_ns * kRecompilationUncertainty,
       .patch = {.place = "", .diff = advice.mark.empty() ? "" : '+' + advice.mark + '\n'}});
}

}  // namespace batchlight::advice
