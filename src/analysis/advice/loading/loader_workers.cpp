#include "analysis/advice/loading/loader_workers.h"

#include <algorithm>
#include <map>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/thresholds.h"
#include "analysis/lines/code_samples.h"
#include "analysis/numbers/time_span.h"
#include "analysis/stages/imports.h"
#include "analysis/steps/loop_span.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

bool RunsModule(const Store& store, size_t process, std::string_view module) {
  return store.Text(store.processes.command_line[process]).find(module) != std::string_view::npos;
}

// Iterators that were made one after the other, and the batches that were asked for then.
struct Iterators {
  int64_t made_ns = 0;  // the first of them
  size_t batches = 0;
  size_t of_steps = 0;    // of these, for steady ones
  bool validate = false;  // the first one is validation's; later ones may be training's again

  bool AreForSteps() const { return batches == 0 || (!validate && 2 * of_steps >= batches); }
};

bool IsValidation(const RunMeasures& run, int64_t at_ns) {
  const ProcessStages* main = run.stages.Main();
  if (main == nullptr) return false;
  const auto after = std::upper_bound(
      main->spans.begin(), main->spans.end(), at_ns,
      [](int64_t moment_ns, const StageSpan& stage) { return moment_ns < stage.start_ns; });
  return after != main->spans.begin() && std::prev(after)->kind == StageKind::kValidation;
}

// In order of time.
std::vector<Iterators> IteratorsOf(const RunMeasures& run, const ProcessSteps& main) {
  std::vector<Iterators> iterators;
  const Store& store = *run.store;
  const PhaseCallsTable& phases = store.phase_calls;
  StepLookup steps(&main);
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.thread[row] != main.thread) continue;
    const int64_t at_ns = phases.start_ns[row];
    if (phases.phase[row] == Phase::kDataLoaderInit) {
      if (iterators.empty() || iterators.back().batches > 0) iterators.push_back({at_ns});
    } else if (phases.phase[row] == Phase::kDataLoaderNext && !iterators.empty()) {
      if (iterators.back().batches++ == 0) iterators.back().validate = IsValidation(run, at_ns);
      iterators.back().of_steps += steps.IsSteadyAt(at_ns);
    }
  }
  return iterators;
}

// Whether the iterator that was being made as the worker started gives batches to steps.
bool WorksForSteps(const std::vector<Iterators>& iterators, int64_t started_ns) {
  const auto after =
      std::upper_bound(iterators.begin(), iterators.end(), started_ns,
                       [](int64_t at_ns, const Iterators& made) { return at_ns < made.made_ns; });
  return after == iterators.begin() || std::prev(after)->AreForSteps();
}

// Whether a function of PyTorch's loader is on the stack.
bool IsInLoader(const Store& store, PythonStackId stack, std::string_view file,
                std::string_view function) {
  for (; !stack.IsNone(); stack = store.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store.python_stacks.frame[stack.row()];
    if (frame.IsNone()) continue;
    const PythonFramesRow place = store.python_frames.Row(frame.row());
    // Before Python 3.11 a function's name is without its class.
    const std::string_view name = store.Text(place.function);
    if (name.substr(name.rfind('.') + 1) == function && store.Text(place.file).ends_with(file))
      return true;
  }
  return false;
}

struct InLoader {
  double all_ns = 0;
  double inside_ns = 0;
  size_t looks = 0;
};

InLoader LookFor(const Store& store, const CodeSamples& samples, ThreadId thread,
                 const std::vector<TimeSpan>& spans, std::string_view file,
                 std::string_view function) {
  InLoader found;
  for (const CodeLook& look : samples.LooksIn(thread, spans)) {
    ++found.looks;
    found.all_ns += double(look.ns);
    if (IsInLoader(store, look.stack, file, function)) found.inside_ns += double(look.ns);
  }
  return found;
}

std::vector<TimeSpan> WaitsInLoop(const Store& store, const ProcessSteps& main, TimeSpan loop) {
  std::vector<TimeSpan> waits;
  const PhaseCallsTable& phases = store.phase_calls;
  StepLookup steps(&main);
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != Phase::kDataLoaderNext || phases.thread[row] != main.thread) continue;
    if (phases.end_ns[row] == kOpenEnd || phases.start_ns[row] < loop.start_ns) continue;
    if (steps.IsSteadyAt(phases.start_ns[row]))
      AddSpan(waits, phases.start_ns[row], phases.end_ns[row]);
  }
  return waits;
}

ThreadId FirstThread(const Store& store, ProcessId process) {
  for (size_t row = 0; row < store.threads.size(); ++row) {
    if (store.threads.process[row] == process &&
        store.threads.tid[row] == store.processes.pid[process.row()]) {
      return ThreadId::At(row);
    }
  }
  return {};
}

}  // namespace

bool IsSingleProcess(std::string_view iterator) {
  return iterator.find("_SingleProcessDataLoaderIter") != std::string_view::npos;
}

namespace {

bool IsSpawned(const Store& store, size_t process, ProcessId training) {
  return store.processes.parent[process] == training &&
         RunsModule(store, process, "multiprocessing.spawn ");
}

}  // namespace

SpawnedWorkers FindSpawnedWorkers(const Store& store, ProcessId training) {
  SpawnedWorkers spawned;
  for (size_t process = 0; process < store.processes.size(); ++process) {
    spawned.count += IsSpawned(store, process, training);
  }
  if (spawned.count == 0) return spawned;
  std::map<std::string_view, double> modules;
  for (const Import& import : FindImports(store)) {
    const ProcessId process = store.ProcessOf(import.thread);
    if (process.IsNone() || import.is_recorder || !IsSpawned(store, process.row(), training)) {
      continue;
    }
    const double ns = double(import.total_ns) / double(spawned.count);
    if (import.depth == 0) spawned.imports_ns += ns;
    // The program's own module imports it, as a part of itself.
    if (store.Text(import.module).find('.') == std::string_view::npos && import.depth <= 1) {
      modules[store.Text(import.module)] += ns;
    }
  }
  const auto torch = modules.find("torch");
  const auto longest =
      torch != modules.end()
          ? torch
          : std::max_element(modules.begin(), modules.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
  if (longest == modules.end()) return spawned;
  spawned.longest = longest->first;
  spawned.longest_ns = longest->second;
  return spawned;
}

std::string SpawnedWorkers::Sentence() const {
  if (count == 0 || imports_ns < kSpawnedImportsNs) return "";
  return " Each is spawned: a new Python, which imports for " + TimeOf(imports_ns) +
         (longest_ns > 0 ? " (" + longest + ' ' + TimeOf(longest_ns) + ")" : "") +
         " before it loads anything.";
}

bool IsLoaderWorker(const Store& store, size_t process, ProcessId training) {
  const ProcessesTable& processes = store.processes;
  const ProcessId parent = processes.parent[process];
  if (parent.IsNone()) return false;
  const bool same = processes.command_line[process] == processes.command_line[parent.row()];
  if (parent == training) return same || IsSpawned(store, process, training);
  return processes.parent[parent.row()] == training && same &&
         RunsModule(store, parent.row(), "multiprocessing.forkserver ");
}

std::vector<ProcessId> WorkersOfSteps(const RunMeasures& run, const ProcessSteps& main) {
  const Store& store = *run.store;
  std::vector<ProcessId> workers, all;
  const std::vector<Iterators> iterators = IteratorsOf(run, main);
  for (size_t i = 0; i < store.processes.size(); ++i) {
    if (!IsLoaderWorker(store, i, main.process)) continue;
    all.push_back(ProcessId::At(i));
    if (WorksForSteps(iterators, store.processes.start_ns[i])) workers.push_back(all.back());
  }
  return workers.empty() ? all : workers;  // steps have some, though few of the first are steady
}

int CountInMiddle(const Store& store, const ProcessSteps& main,
                  const std::vector<ProcessId>& workers) {
  if (main.steady.empty()) return 0;
  const int64_t at_ns = main.steps[main.steady[main.steady.size() / 2]].start_ns;
  return static_cast<int>(std::count_if(workers.begin(), workers.end(), [&](ProcessId worker) {
    return store.processes.start_ns[worker.row()] <= at_ns &&
           at_ns < store.processes.end_ns[worker.row()];
  }));
}

bool BatchesOfWorkers::IsHandOver(double waited_ns) const {
  return known && making_ns < kCheapBatch * waited_ns * handed_share;
}

BatchesOfWorkers MeasureBatches(const Store& store, const ProcessSteps& main,
                                const std::vector<ProcessId>& workers) {
  BatchesOfWorkers batches;
  const CodeSamples samples(store);
  if (samples.empty() || workers.empty() || main.steps.empty()) return batches;
  const TimeSpan loop = SpanOfLoop(main.steps).whole;
  double making_ns = 0, looks = 0;
  for (const ProcessId worker : workers) {
    const ThreadId thread = FirstThread(store, worker);
    if (thread.IsNone()) return batches;
    const InLoader fetch =
        LookFor(store, samples, thread, {loop}, "torch/utils/data/_utils/fetch.py", "fetch");
    looks += double(fetch.looks);
    making_ns += fetch.inside_ns;
  }
  const InLoader taken = LookFor(store, samples, main.thread, WaitsInLoop(store, main, loop),
                                 "torch/utils/data/dataloader.py", "_get_data");
  if (taken.all_ns <= 0 || looks < kWorkerLooks) return batches;
  batches.making_ns = making_ns / double(main.steps.size());
  batches.handed_share = taken.inside_ns / taken.all_ns;
  batches.known = true;
  return batches;
}

WorkerWaitedFor FindWorkerWaitedFor(const Store& store, const ProcessSteps& main,
                                    const std::vector<ProcessId>& workers) {
  const CodeSamples samples(store);
  if (samples.empty() || workers.size() < 2 || main.steps.empty()) return {};
  const std::vector<TimeSpan> waits = WaitsInLoop(store, main, SpanOfLoop(main.steps).whole);
  WorkerWaitedFor most;
  double all_ns = 0, looks = 0, most_ns = 0, made_something = 0;
  for (const ProcessId worker : workers) {
    const ThreadId thread = FirstThread(store, worker);
    if (thread.IsNone()) return {};
    const InLoader fetch =
        LookFor(store, samples, thread, waits, "torch/utils/data/_utils/fetch.py", "fetch");
    looks += double(fetch.looks);
    made_something += fetch.inside_ns > 0 ? 1 : 0;
    all_ns += fetch.inside_ns;
    if (fetch.inside_ns <= most_ns) continue;
    most_ns = fetch.inside_ns;
    most.process = worker;
  }
  if (looks < kWorkerLooks || all_ns <= 0 || made_something < 2) return {};
  most.share = most_ns / all_ns;
  return most.share >= std::max(kOneWorker, 1.5 / made_something) ? most : WorkerWaitedFor();
}

}  // namespace batchlight::advice
