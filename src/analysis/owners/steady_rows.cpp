#include "analysis/owners/steady_rows.h"

#include <algorithm>

#include "analysis/numbers/time_span.h"

namespace batchlight {
namespace {

std::vector<TimeSpan> SteadyStretches(const ProcessSteps& process) {
  std::vector<TimeSpan> stretches;
  for (const uint32_t row : process.steady) {
    AddSpan(stretches, process.steps[row].start_ns, process.steps[row].end_ns);
  }
  return stretches;
}

// Goes through the shorter of the two lists and searches the other: a thread of few rows costs
// little in a run of many steps, and the other way round.
void AddRows(const std::vector<TimeSpan>& stretches, std::span<const int64_t> start_ns,
             ThreadSpans::Rows rows, std::vector<SteadyRows>& found) {
  const auto first_from = [&](uint32_t from, int64_t time_ns) {
    const auto begin = start_ns.begin();
    return static_cast<uint32_t>(std::lower_bound(begin + from, begin + rows.end, time_ns) - begin);
  };
  uint32_t row = rows.begin;
  auto stretch = stretches.begin();
  while (row < rows.end) {
    stretch = std::partition_point(stretch, stretches.end(), [&](const TimeSpan& span) {
      return span.end_ns <= start_ns[row];
    });
    if (stretch == stretches.end()) return;
    const uint32_t begin = first_from(row, stretch->start_ns);
    row = first_from(begin, stretch->end_ns);
    if (begin < row) found.push_back({begin, row, rows.end});
  }
}

// Any of them may still be open: what nests and what does not stand together.
void AddRowsBegunBefore(int64_t time_ns, std::span<const int64_t> start_ns,
                        std::span<const int64_t> end_ns, ThreadSpans::Rows rows,
                        std::vector<SteadyRows>& found) {
  for (uint32_t row = rows.begin; row < rows.end && start_ns[row] < time_ns; ++row) {
    if (end_ns[row] > time_ns) found.push_back({row, row + 1, rows.end, true});
  }
}

}  // namespace

std::vector<SteadyRows> FindSteadyRows(const Store& store, const StepSet& steps,
                                       const ThreadSpans& threads,
                                       std::span<const int64_t> start_ns,
                                       std::span<const int64_t> end_ns) {
  std::vector<std::vector<TimeSpan>> stretches(store.processes.size());
  for (const ProcessSteps& process : steps.processes) {
    if (process.process.row() < stretches.size()) {
      stretches[process.process.row()] = SteadyStretches(process);
    }
  }
  std::vector<SteadyRows> found;
  for (size_t i = 0; i < threads.thread_count(); ++i) {
    const ThreadId thread = ThreadId::At(i);
    const ThreadSpans::Rows rows = threads.Of(thread);
    const ProcessId process = store.ProcessOf(thread);
    if (rows.empty() || process.IsNone() || process.row() >= stretches.size()) continue;
    if (steps.within && !end_ns.empty() && !stretches[process.row()].empty()) {
      AddRowsBegunBefore(steps.within->start_ns, start_ns, end_ns, rows, found);
    }
    AddRows(stretches[process.row()], start_ns, rows, found);
  }
  return found;
}

}  // namespace batchlight
