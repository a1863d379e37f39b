#include "analysis/steps/step_requests.h"

#include <algorithm>
#include <functional>

#include "analysis/steps/loop_tiler.h"
#include "analysis/steps/update_pattern.h"

namespace batchlight {
namespace {

// Calls that make a whole answer, which calls the model many times (generate).
std::vector<Update> Generations(const StepInputs& inputs, ThreadId thread) {
  std::vector<Update> calls;
  const PhaseCallsTable& phases = inputs.store.phase_calls;
  const ThreadSpans::Rows rows = inputs.phase_rows.Of(thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const bool inner = !calls.empty() && phases.start_ns[row] < calls.back().end_ns;
    if (phases.phase[row] != Phase::kRequest || phases.end_ns[row] == kOpenEnd || inner) continue;
    calls.push_back(
        {.start_ns = phases.start_ns[row], .end_ns = phases.end_ns[row], .name = phases.name[row]});
  }
  return calls;
}

std::vector<Update> CallsOfModels(const StepInputs& inputs, ThreadId thread) {
  std::vector<Update> calls = Generations(inputs, thread);
  if (!calls.empty()) return calls;
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
  int64_t covered_until = INT64_MIN;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = inputs.marks.all()[row];
    if (mark.kind != PhaseKind::kForward || mark.start_ns < covered_until) continue;
    const uint64_t owner = std::hash<std::string_view>()(inputs.store.Text(mark.name));
    calls.push_back({.start_ns = mark.start_ns,
                     .end_ns = mark.end_ns,
                     .name = mark.name,
                     .owner = owner,
                     .family = owner});
    covered_until = mark.end_ns;
  }
  return calls;
}

}  // namespace

FoundStepsOrNone StepsFromRequests(const StepInputs& inputs, ProcessId process) {
  std::vector<Update> calls;
  ThreadId thread;
  for (const ThreadId candidate : inputs.threads_of_process[process.row()]) {
    std::vector<Update> own = CallsOfModels(inputs, candidate);
    if (own.size() <= calls.size()) continue;
    calls = std::move(own);
    thread = candidate;
  }
  if (calls.size() < 2) return {};
  const UpdatePattern pattern = FindUpdatePattern(calls);
  FoundSteps found{.source = StepSource::kRequest,
                   .thread = thread,
                   .marker = std::string(inputs.store.Text(calls[pattern.ends.front()].name))};
  LoopTiler(inputs, process, thread).Tile(EndsOf(calls, pattern), &found);
  if (found.steps.empty()) return {};
  found.how = "from the end of one call of " + QuotedName(found.marker) +
              " to the next (nothing is trained: a request is a step)";
  return found;
}

}  // namespace batchlight
