#include "analysis/stages/start_up.h"

#include <algorithm>
#include <map>
#include <string>

#include "analysis/cuda/cuda_call.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/steps/step_inputs.h"

namespace batchlight {
namespace {

constexpr size_t kMostImports = 8;
// Nothing but the program's own Python (or its children) for this long, and for this part of the
// process's life, is work that it does before it trains.
constexpr int64_t kLeastQuietNs = 200'000'000;
constexpr double kLeastQuietPart = 0.02;
constexpr std::string_view kStartOfCuda = "torch.cuda._lazy_init";
// A tensor made now and then does not end it.
constexpr double kMostBusyPart = 0.1;

constexpr std::string_view kRecorder = "<batchlight>";

struct OpenImport {
  int64_t end_ns;
  std::string_view package;  // kRecorder: its build, a stage of its own
};

// What a process imports its recording has, or none of it; one that was forked may need no more
// than its parent has.
bool KnowsImports(const Store& store, ProcessId process) {
  const PhaseCallsTable& phases = store.phase_calls;
  std::vector<bool> knows(store.processes.size(), false);
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != Phase::kImport) continue;
    const ProcessId importer = store.ProcessOf(phases.thread[row]);
    if (!importer.IsNone()) knows[importer.row()] = true;
  }
  size_t generations = store.processes.size();
  while (!process.IsNone() && generations-- > 0) {
    if (knows[process.row()]) return true;
    process = store.processes.parent[process.row()];
  }
  return false;
}

class Start {
 public:
  Start(const StepInputs& inputs, ThreadId thread, TimeSpan whole)
      : store_(inputs.store), thread_(thread), inputs_(inputs) {
    before_.whole = whole;
    before_.python_ns = whole.start_ns;
    if (!thread.IsNone()) before_.knows_imports = KnowsImports(store_, store_.ProcessOf(thread));
  }

  BeforeLoop Run(int64_t wall_ns) {
    ReadPhases();
    FindCuda();
    if (started_ && before_.knows_imports) FindPreprocessing(wall_ns);
    return std::move(before_);
  }

 private:
  bool Inside(int64_t start_ns) const {
    return start_ns >= before_.whole.start_ns && start_ns < before_.whole.end_ns;
  }

  void ReadPhases() {
    const PhaseCallsTable& phases = store_.phase_calls;
    const ThreadSpans::Rows rows = inputs_.phase_rows.Of(thread_);
    std::map<std::string_view, int64_t> packages;
    std::vector<OpenImport> open;
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      const int64_t start_ns = phases.start_ns[row];
      if (!Inside(start_ns)) continue;
      if (phases.phase[row] == Phase::kPythonStart) {
        before_.python_ns = start_ns;
        started_ = true;
      }
      const bool builds = phases.phase[row] == Phase::kRecorderBuild;
      if (phases.phase[row] != Phase::kImport && !builds) continue;
      const int64_t end_ns =
          std::min(ClosedEnd(store_, start_ns, phases.end_ns[row]), before_.whole.end_ns);
      while (!open.empty() && open.back().end_ns <= start_ns) open.pop_back();
      if (!open.empty() && open.back().package == kRecorder) continue;  // imports for itself
      std::string_view package = builds ? kRecorder : store_.Text(phases.name[row]);
      package = package.substr(0, package.find('.'));
      const auto is_pytorch = [](const OpenImport& import) { return import.package == "torch"; };
      const bool in_pytorch = std::any_of(open.begin(), open.end(), is_pytorch);
      if (builds) {
        if (in_pytorch) before_.pytorch_ns -= end_ns - start_ns;
      } else {
        packages[package] += end_ns - start_ns;
        if (package == "torch" && !in_pytorch) before_.pytorch_ns += end_ns - start_ns;
        if (open.empty()) AddSpan(before_.imports, start_ns, end_ns);
      }
      if (!open.empty()) packages[open.back().package] -= end_ns - start_ns;
      open.push_back({end_ns, package});
    }
    for (const auto& [package, ns] : packages)
      before_.largest.push_back({std::string(package), ns});
    std::stable_sort(before_.largest.begin(), before_.largest.end(),
                     [](const PackageImport& a, const PackageImport& b) { return a.ns > b.ns; });
    if (before_.largest.size() > kMostImports) before_.largest.resize(kMostImports);
  }

  template <typename Table>
  void AddCalls(const Table& table, ThreadSpans::Rows rows, std::vector<TimeSpan>& spans) const {
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      const int64_t start_ns = table.start_ns[row];
      if (!Inside(start_ns)) continue;
      spans.push_back({start_ns, ClosedEnd(store_, start_ns, table.end_ns[row])});
    }
  }

  // Everything that PyTorch, CUDA and the import system did on the thread.
  std::vector<TimeSpan> Known() const {
    std::vector<TimeSpan> spans;
    AddCalls(store_.operator_calls, inputs_.operator_rows.Of(thread_), spans);
    AddCalls(store_.phase_calls, inputs_.phase_rows.Of(thread_), spans);
    AddCalls(store_.module_calls, ThreadSpans(store_.module_calls.thread).Of(thread_), spans);
    AddCalls(store_.api_calls, ThreadSpans(store_.api_calls.thread).Of(thread_), spans);
    std::erase_if(spans, [](const TimeSpan& span) { return span.end_ns == kOpenEnd; });
    return UnionOf(std::move(spans));
  }

  // PyTorch's start of CUDA, and the calls up to the first that gives the GPU work.
  void FindCuda() {
    std::vector<TimeSpan> spans;
    const PhaseCallsTable& phases = store_.phase_calls;
    const ThreadSpans::Rows phase_rows = inputs_.phase_rows.Of(thread_);
    for (uint32_t row = phase_rows.begin; row < phase_rows.end; ++row) {
      if (phases.phase[row] != Phase::kFunction || !Inside(phases.start_ns[row])) continue;
      if (store_.Text(phases.name[row]) != kStartOfCuda) continue;
      spans.push_back({phases.start_ns[row], phases.end_ns[row]});
    }
    const ApiCallsTable& calls = store_.api_calls;
    const ThreadSpans::Rows rows = ThreadSpans(calls.thread).Of(thread_);
    for (uint32_t row = rows.begin; row < rows.end && Inside(calls.start_ns[row]); ++row) {
      if (GivesWork(store_.Text(calls.name[row]))) break;
      spans.push_back({calls.start_ns[row], calls.end_ns[row]});
    }
    std::erase_if(spans, [](const TimeSpan& span) { return span.end_ns == kOpenEnd; });
    for (const TimeSpan& span : UnionOf(std::move(spans))) {
      AddSpan(before_.cuda, span.start_ns, std::min(span.end_ns, before_.whole.end_ns));
    }
  }

  void FindPreprocessing(int64_t wall_ns) {
    const auto least_ns =
        std::max(kLeastQuietNs, static_cast<int64_t>(kLeastQuietPart * double(wall_ns)));
    const std::vector<TimeSpan> known = UniteSpans(Known(), before_.cuda);
    TimeSpan open{before_.python_ns, before_.python_ns};
    int64_t quiet_ns = 0;
    const auto close = [&] {
      if (quiet_ns >= least_ns) AddSpan(before_.preprocessing, open.start_ns, open.end_ns);
    };
    VisitGaps(known, before_.python_ns, before_.whole.end_ns, [&](int64_t from_ns, int64_t to_ns) {
      const int64_t busy_ns = from_ns - open.end_ns;
      const int64_t gap_ns = to_ns - from_ns;
      if (double(busy_ns) > kMostBusyPart * double(std::min(quiet_ns, gap_ns))) {
        close();
        open.start_ns = from_ns;
        quiet_ns = 0;
      }
      open.end_ns = to_ns;
      quiet_ns += gap_ns;
    });
    close();
  }

  const Store& store_;
  ThreadId thread_;
  const StepInputs& inputs_;
  bool started_ = false;
  BeforeLoop before_;
};

int64_t NsOf(const std::vector<TimeSpan>& spans, const std::vector<StageSpan>& stages) {
  int64_t total_ns = 0;
  for (const StageSpan& stage : stages) {
    if (stage.kind == StageKind::kStartUp)
      total_ns += NsInside(spans, stage.start_ns, stage.end_ns);
  }
  return total_ns;
}

}  // namespace

BeforeLoop ExamineStart(const StepInputs& inputs, ThreadId thread, TimeSpan before_loop,
                        int64_t wall_ns) {
  return Start(inputs, thread, before_loop).Run(wall_ns);
}

StartUpParts PartsOfStartUp(const BeforeLoop& before, const std::vector<StageSpan>& stages) {
  StartUpParts parts;
  int64_t whole_ns = 0;
  for (const StageSpan& stage : stages) {
    if (stage.kind == StageKind::kStartUp) whole_ns += stage.duration_ns();
  }
  std::vector<TimeSpan> interpreter;
  AddSpan(interpreter, before.whole.start_ns, before.python_ns);
  const std::vector<TimeSpan> loaded = UniteSpans(interpreter, before.imports);
  parts.interpreter_ns = NsOf(interpreter, stages);
  parts.imports_ns = NsOf(before.imports, stages);
  parts.pytorch_imports_ns = std::min(before.pytorch_ns, parts.imports_ns);
  parts.largest = before.largest;
  parts.cuda_ns = NsOf(UniteSpans(loaded, before.cuda), stages) - NsOf(loaded, stages);
  (before.knows_imports ? parts.set_up_ns : parts.unknown_ns) =
      whole_ns - parts.interpreter_ns - parts.imports_ns - parts.cuda_ns;
  return parts;
}

std::vector<StartUpPart> PartsByName(const StartUpParts& parts) {
  return {{"interpreter", "interpreter", parts.interpreter_ns},
          {"imports", "imports", parts.imports_ns},
          {"cuda_context", "CUDA context", parts.cuda_ns},
          {"set_up", "model and data set-up", parts.set_up_ns},
          {"unknown", "not looked into (imports were not recorded)", parts.unknown_ns}};
}

}  // namespace batchlight
