#include "analysis/run/recording_cost.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/time_span.h"
#include "analysis/phases/plain_spans.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

constexpr std::string_view kGpuEvents = "GPU events";

// A kernel, copy or set with its call, the upper end: steps of 713 of them were 1.5, 2.1, 3.0
// and 3.6 us an event longer on four machines with an H200 (PyTorch 2.11, CUPTI 13.0;
// docs/benchmarks.md).
constexpr double kGpuWorkNs = 3600;
// A CUDA graph that is launched as a whole: replays of 1.4 to 2.2 ms were 12 to 29 us longer on
// three machines, also where the GPU never idles: its end is waited for (docs/benchmarks.md).
constexpr double kGraphNs = 30'000;
// The least of what the GPU itself takes longer for it, in kernels that were not recorded apart.
constexpr double kOnGpuNs = 300;

// The costs were measured in tight loops. In a step the recorder's code and memory are out of the
// caches, and so is what PyTorch does to call it: 1.8 times as much on an H200's machine, 4 times
// in examples/train.py on two shared processors, nearly 5 times in transformers' Trainer on an
// H200's machine (docs/benchmarks.md).
constexpr double kColdCaches = 5;

// A phase is dearer in a step than in a tight loop by far more: the functions of Python around it
// run once a step. In loops of 0.2, 0.36 and 0.9 ms three phases made steps without detail 33 to 42
// us longer, also by what steps with detail leave of the caches: 33 to 42 times the tight loop;
// some 25 us on an idle machine (docs/benchmarks.md).
constexpr double kPhaseInStep = 20;
constexpr double kPhaseAtMost = 50;

// What CUPTI, once it has recorded kernels, goes on to cost where it records nothing, of what it
// costs: half (docs/benchmarks.md; 389 to 794 of 1,549 ns a launch).
constexpr double kKeptByCupti = 0.5;

// -t osrt, stacks, samples and switches: what they took in tight loops (bench/os_calls_bench.py,
// bench/cpu_samples_bench.py, and 20,000 reads a step of 0.5 us: 107 ns a counted call, 445 a
// recorded one with its stack), and the most with cold caches and on busy machines.
struct RangeOfNs {
  double least, most;
};
constexpr RangeOfNs kCountedCall{30, 350};
constexpr RangeOfNs kRecordedCall{50, 550};
constexpr RangeOfNs kStack{250, 2000};
constexpr RangeOfNs kSample{5000, 30'000};
constexpr RangeOfNs kSwitch{500, 3000};

// PyTorch itself takes longer for an operator or a module than its record does, so that the records
// are at most half of a step; costs measured in a process that something slowed down say more.
constexpr double kMostOfStep = 0.5;

// Of a program that began outside of windows (--steps, --every, --monitor, -c), where nothing could
// be measured: what tight loops took on two processors of an AMD EPYC with PyTorch 2.11.
constexpr double kOperatorNs = 150;
constexpr double kModuleNs = 85;
constexpr double kPhaseNs = 330;

double Cost(const Store& store, const char* key) {
  const std::string text(store.Property(key));
  return text.empty() ? 0 : std::max(0.0, std::strtod(text.c_str(), nullptr));
}

class EventsPerStep {
 public:
  EventsPerStep(const Store& store, const ProcessSteps& process)
      : process_(process), ours_(store.threads.size()) {
    for (size_t row = 0; row < ours_.size(); ++row) {
      ours_[row] = store.threads.process[row] == process_.process;
    }
  }

  // Rows of a table with a column `thread`, a steady step.
  template <class Table>
  double OfThreads(const Table& table) const {
    return PerStep(table, [&](size_t row) {
      const ThreadId thread = table.thread[row];
      return !thread.IsNone() && ours_[thread.row()];
    });
  }
  // Of these, the rows that pass.
  template <class Table, class Test>
  double OfThreads(const Table& table, const Test& passes) const {
    return PerStep(table, [&](size_t row) {
      const ThreadId thread = table.thread[row];
      return !thread.IsNone() && ours_[thread.row()] && passes(row);
    });
  }
  // Calls that were only counted, which have no time: as many in each part of a thread's life.
  double OfCounts(const Store& store, double step_ns) const {
    double calls = 0;
    const OsCallCountsTable& counts = store.os_call_counts;
    for (size_t row = 0; row < counts.size(); ++row) {
      const ThreadId thread = counts.thread[row];
      if (thread.IsNone() || !ours_[thread.row()]) continue;
      const int64_t start_ns = store.threads.start_ns[thread.row()];
      const int64_t life_ns =
          ClosedEnd(store, start_ns, store.threads.end_ns[thread.row()]) - start_ns;
      calls += double(counts.calls[row]) * step_ns / std::max(step_ns, double(life_ns));
    }
    return calls;
  }
  // Rows of a table with a column `process`.
  template <class Table>
  double OfProcess(const Table& table) const {
    return PerStep(table, [&](size_t row) { return table.process[row] == process_.process; });
  }

 private:
  template <class Table, class IsOurs>
  double PerStep(const Table& table, const IsOurs& is_ours) const {
    StepLookup steps(&process_);
    size_t count = 0;
    for (size_t row = 0; row < table.size(); ++row) {
      count += steps.IsSteadyAt(table.start_ns[row]) && is_ours(row);
    }
    return static_cast<double>(count) / static_cast<double>(process_.steady.size());
  }

  const ProcessSteps& process_;
  std::vector<bool> ours_;
};

// Time of a steady step in which the GPU does nothing that was recorded, in the mean. Recording
// cannot have made a step longer by more: a step takes at least as long as its work on the GPU.
class GpuIdleTime {
 public:
  GpuIdleTime(const Store& store, const ProcessSteps& process) : store_(store), process_(process) {}

  double PerStepNs() {
    double step_ns = 0;
    double busy_ns = 0;
    for (const uint32_t row : process_.steady) {
      const Step& step = process_.steps[row];
      step_ns += double(step.duration_ns());
      busy_ns += double(BusyNs(step));
    }
    return (step_ns - busy_ns) / double(std::max<size_t>(1, process_.steady.size()));
  }

 private:
  // Each table is in order of start; the steps are asked for in order, so each row is met once.
  template <class Table>
  void Take(const Table& table, size_t& row, const Step& step) {
    for (; row < table.size() && table.start_ns[row] < step.end_ns; ++row) {
      if (table.process[row] != process_.process || table.end_ns[row] == kOpenEnd) continue;
      const int64_t start_ns = std::max(table.start_ns[row], step.start_ns);
      const int64_t end_ns = std::min(table.end_ns[row], step.end_ns);
      if (start_ns < end_ns) spans_.push_back({start_ns, end_ns});
    }
  }

  int64_t BusyNs(const Step& step) {
    spans_.clear();
    Take(store_.kernels, kernel_, step);
    Take(store_.memcpys, copy_, step);
    Take(store_.memsets, set_, step);
    Take(store_.graph_launches, graph_, step);
    int64_t busy_ns = 0;
    for (const TimeSpan& span : UnionOf(spans_)) busy_ns += span.end_ns - span.start_ns;
    return busy_ns;
  }

  const Store& store_;
  const ProcessSteps& process_;
  std::vector<TimeSpan> spans_;
  size_t kernel_ = 0, copy_ = 0, set_ = 0, graph_ = 0;
};

// What steps without detail have as well, so that comparing them with the others does not show it.
struct Kept {
  double ns = 0;         // of a step, the most, of CUPTI and ranges
  double share = 0;      // of the estimate's upper end without phases
  double phases_ns = 0;  // what phases take in a tight loop
};

struct Counted {
  RecordedKind kind;
  double kept = 0;  // the part that steps without detail have as well
};

struct AllCounted {
  double gpu_work = 0, graphs = 0, phases_ns = 0;  // in a step
  std::vector<Counted> kinds;
};

AllCounted Count(const Store& store, const ProcessSteps& process, double step_ns) {
  const double range_ns = Cost(store, "cost.range_ns");
  const auto cost_or = [&](const char* key, double otherwise_ns) {
    return std::max(range_ns, store.Property(key).empty() ? otherwise_ns : Cost(store, key));
  };
  const double module_ns = cost_or("cost.module_ns", kModuleNs);
  const double phase_ns = std::max(module_ns, cost_or("cost.phase_ns", kPhaseNs));
  const double operator_ns = cost_or("cost.operator_ns", kOperatorNs);
  const double call_ns = Cost(store, "cost.cuda_call_ns");
  const EventsPerStep count(store, process);
  const double gpu_work = count.OfProcess(store.kernels) + count.OfProcess(store.memcpys) +
                          count.OfProcess(store.memsets);
  const double graphs = count.OfProcess(store.graph_launches);
  const double calls = std::max(0.0, count.OfThreads(store.api_calls) - gpu_work - graphs);
  const double modules = count.OfThreads(store.module_calls);
  const double phases = count.OfThreads(store.phase_calls);
  const OsCallsTable& os_calls = store.os_calls;
  const CudaBacktracesTable& backtraces = store.cuda_backtraces;
  const auto of_process =
      double(std::count(backtraces.process.begin(), backtraces.process.end(), process.process));
  const double stacks = count.OfThreads(os_calls, [&](size_t row) {
    return !os_calls.native_stack[row].IsNone();
  }) + std::min(calls + gpu_work, of_process / double(process.steps.size()));
  const auto each_of = [](std::string_view what, double per_step, RangeOfNs each) {
    return RecordedKind{what, per_step, each.most, each.least};
  };
  const auto each_cold = [](std::string_view what, double per_step, double ns) {
    return RecordedKind{what, per_step, kColdCaches * ns, ns};
  };
  return {gpu_work,
          graphs,
          phases * phase_ns,
          {
              {each_of("calls of the C library", count.OfThreads(os_calls), kRecordedCall)},
              {each_of("counted calls", count.OfCounts(store, step_ns), kCountedCall)},
              {each_of("native stacks", stacks, kStack)},
              {each_of("CPU samples", count.OfThreads(store.cpu_samples), kSample)},
              {each_of("context switches", count.OfThreads(store.cpu_switches), kSwitch)},
              {{kGpuEvents, gpu_work, kGpuWorkNs, 0}, kKeptByCupti},
              {{"CUDA graphs", graphs, kGraphNs, 0}},
              {each_cold("CUDA calls", calls, call_ns)},
              {each_cold("operators", count.OfThreads(store.operator_calls), operator_ns)},
              {each_cold("modules", modules, module_ns)},
              {{"phases", phases, kPhaseAtMost * phase_ns, phase_ns}},
              {each_cold("ranges", count.OfThreads(store.nvtx_ranges), range_ns), 1},
          }};
}

Kept Estimate(const Store& store, const ProcessSteps& process, RecordingCost& cost) {
  if (Cost(store, "cost.range_ns") == 0) return {};
  const auto [gpu_work, graphs, phases_ns, kinds] = Count(store, process, cost.step_ns);
  Kept all_kept{.phases_ns = phases_ns};
  for (const auto& [kind, kept] : kinds) {
    if (kind.per_step == 0) continue;
    cost.kinds.push_back(kind);
    cost.high_ns += kind.per_step * kind.ns_each;
    cost.low_ns += kind.per_step * kind.least_ns;
    all_kept.ns += kept * kind.per_step * kind.ns_each;
  }
  all_kept.share = all_kept.ns / std::max(1.0, cost.high_ns - kPhaseAtMost * phases_ns);
  std::stable_sort(cost.kinds.begin(), cost.kinds.end(),
                   [](const RecordedKind& a, const RecordedKind& b) {
                     return a.per_step * a.ns_each > b.per_step * b.ns_each;
                   });
  cost.uncut_ns = cost.high_ns;
  if (gpu_work + graphs > 0) {
    const double idle_ns = GpuIdleTime(store, process).PerStepNs();
    cost.uncut_ns = std::min(cost.uncut_ns, idle_ns + gpu_work * kOnGpuNs + graphs * kGraphNs);
    cost.low_ns = 0;
  }
  cost.high_ns = std::min(cost.uncut_ns, kMostOfStep * cost.step_ns);
  cost.low_ns = std::min(cost.low_ns, cost.high_ns);
  return all_kept;
}

// CUPTI's as a part of what was measured: a machine on which all is dearer scales both. It may be
// off by all of it, either way; phases take between what they do in a tight loop and the most.
void AddKept(const Kept& kept, RecordingCost& cost) {
  LongerBy& longer = *cost.measured;
  const double seen_share = std::max(1e-6, 1 - kept.share);
  const double most_ns = kMostOfStep * std::max(0.0, cost.step_ns - longer.ns);
  const double scaled_ns =
      std::clamp(longer.ns * kept.share / seen_share, 0.0, std::min(kept.ns, most_ns));
  cost.kept_ns = scaled_ns + std::min(kPhaseInStep * kept.phases_ns, most_ns - scaled_ns);
  longer.ns += cost.kept_ns;
  longer.low_ns += std::min(kept.phases_ns, most_ns);
  longer.high_ns += 2 * scaled_ns + std::min(kPhaseAtMost * kept.phases_ns, 2 * most_ns);
}

void Measure(const Store& store, const ProcessSteps& process, const Kept& kept,
             RecordingCost& cost) {
  const std::vector<PlainSpan> spans = FindPlainSpans(store, process.process);
  auto span = spans.begin();
  std::vector<AlternatingStep> steps;
  for (const Step& step : process.steps) {
    cost.plain_steps += step.kind == StepKind::kPlain;
    if (step.kind != StepKind::kPlain && step.kind != StepKind::kSteady) continue;
    int64_t switch_ns = 0;  // what is spent on switching is not the plain step's
    for (; span != spans.end() && span->start_ns < step.end_ns; ++span) {
      if (span->start_ns + span->switch_ns > step.start_ns) switch_ns += span->switch_ns;
    }
    const bool detailed = step.kind == StepKind::kSteady;
    steps.push_back({double(step.duration_ns() - (detailed ? 0 : switch_ns)), detailed});
  }
  const GraphLaunchesTable& graphs = store.graph_launches;
  for (size_t row = 0; row < graphs.size() && !cost.without_graphs; ++row) {
    if (graphs.process[row] != process.process) continue;
    const size_t step = StepLookup::Around(process.steps, graphs.start_ns[row]);
    cost.without_graphs = step != StepLookup::kNone && process.steps[step].kind == StepKind::kPlain;
  }
  cost.detailed_steps = process.steps.size() - cost.plain_steps;
  cost.measured = CompareAlternating(steps);
  if (cost.measured && cost.measured->high_ns - cost.measured->low_ns > cost.step_ns) {
    cost.measured.reset();  // steps differ too much by themselves for that to say anything
  }
  if (cost.measured && !cost.without_graphs) AddKept(kept, cost);
  if (cost.measured) cost.plain_step_ns = std::max(1.0, cost.step_ns - cost.measured->ns);
}

}  // namespace

void OfGpu(RecordingCost& cost, double pace_ns) {
  if (cost.measured || pace_ns <= cost.step_ns) return;
  cost.step_ns = pace_ns;
  cost.high_ns = std::min(cost.uncut_ns, kMostOfStep * pace_ns);
  cost.plain_step_ns = std::max(1.0, pace_ns - cost.high_ns);
}

RecordingCost FindRecordingCost(const Store& store, const StepSet& steps) {
  RecordingCost cost;
  if (steps.Main() == nullptr) return cost;
  const ProcessSteps& process = *steps.Main();
  cost.step_ns = double(process.duration.median);
  cost.budget = std::strtod(std::string(store.Property(kOverheadBudgetKey)).c_str(), nullptr);
  const Kept kept = Estimate(store, process, cost);
  cost.plain_step_ns = std::max(1.0, cost.step_ns - cost.high_ns);
  Measure(store, process, kept, cost);
  return cost;
}

}  // namespace batchlight
