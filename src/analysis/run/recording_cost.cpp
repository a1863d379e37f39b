#include "analysis/run/recording_cost.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

// A kernel, copy or set with its call, the upper end: steps of 713 of them were 1.5, 2.1, 3.0
// and 3.6 us an event longer on four machines with an H200 (PyTorch 2.11, CUPTI 13.0;
// docs/benchmarks.md).
constexpr double kGpuWorkNs = 3600;

// The costs were measured in tight loops. In a step the recorder's code and memory are out of the
// caches, and so is what PyTorch does to call it: 1.8 times as much on an H200's machine, 4 times
// in examples/train.py on two shared processors (docs/benchmarks.md).
constexpr double kColdCaches = 4;

double Cost(const Store& store, const char* key) {
  const std::string text(store.Property(key));
  return text.empty() ? 0 : kColdCaches * std::max(0.0, std::strtod(text.c_str(), nullptr));
}

class StepCounter {
 public:
  StepCounter(const Store& store, const ProcessSteps& process)
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

}  // namespace

RecordingCost EstimateRecordingCost(const Store& store, const StepSet& steps) {
  RecordingCost cost;
  const double range_ns = Cost(store, "cost.range_ns");
  if (steps.Main() == nullptr || range_ns == 0) return cost;
  const double module_ns = std::max(range_ns, Cost(store, "cost.module_ns"));
  const double operator_ns = std::max(range_ns, Cost(store, "cost.operator_ns"));
  const StepCounter count(store, *steps.Main());
  const double gpu_work = count.OfProcess(store.kernels) + count.OfProcess(store.memcpys) +
                          count.OfProcess(store.memsets);
  const double calls = std::max(0.0, count.OfThreads(store.api_calls) - gpu_work);
  const RecordedKind kinds[] = {
      {"GPU events", gpu_work, kGpuWorkNs},
      {"CUDA calls", calls, Cost(store, "cost.cuda_call_ns")},
      {"operators", count.OfThreads(store.operator_calls), operator_ns},
      {"modules and phases",
       count.OfThreads(store.module_calls) + count.OfThreads(store.phase_calls), module_ns},
      {"ranges", count.OfThreads(store.nvtx_ranges), range_ns},
  };
  for (const RecordedKind& kind : kinds) {
    if (kind.per_step == 0) continue;
    cost.kinds.push_back(kind);
    cost.per_step_ns += kind.per_step * kind.ns_each;
  }
  std::stable_sort(cost.kinds.begin(), cost.kinds.end(),
                   [](const RecordedKind& a, const RecordedKind& b) {
                     return a.per_step * a.ns_each > b.per_step * b.ns_each;
                   });
  return cost;
}

}  // namespace batchlight
