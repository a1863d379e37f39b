#include "analysis/steps/step_replays.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/steps/graph_use.h"

namespace batchlight {
namespace {

GraphUse MostReplays(const StepInputs& inputs, ProcessId process, ThreadId* thread) {
  GraphUse most;
  for (const ThreadId candidate : inputs.threads_of_process[process.row()]) {
    GraphUse use = FindGraphUse(inputs.store, candidate);
    if (use.replays.size() <= most.replays.size()) continue;
    most = std::move(use);
    *thread = candidate;
  }
  return most;
}

// Of several graphs (a few per step, accumulated gradients) the one that is replayed most seldom
// ends the step. Graphs recorded node by node are not told apart.
std::vector<uint32_t> EndsOfSteps(const Store& store, const std::vector<uint32_t>& replays) {
  std::unordered_map<uint32_t, uint32_t> graph_of_call;
  const GraphLaunchesTable& graphs = store.graph_launches;
  for (size_t row = 0; row < graphs.size(); ++row) {
    if (!graphs.api_call[row].IsNone()) {
      graph_of_call[graphs.api_call[row].value] = graphs.graph_exec[row];
    }
  }
  std::unordered_map<uint32_t, std::vector<uint32_t>> by_graph;
  for (const uint32_t row : replays) {
    const auto known = graph_of_call.find(row);
    by_graph[known == graph_of_call.end() ? 0 : known->second].push_back(row);
  }
  const std::vector<uint32_t>* best = nullptr;
  for (const auto& [graph, rows] : by_graph) {
    // Another graph may have been replayed for a moment only: one that ends steps goes on.
    const bool throughout = rows.size() >= 3 && rows.front() < replays[replays.size() / 3] &&
                            rows.back() > replays[replays.size() * 2 / 3];
    if (!throughout) continue;
    if (best == nullptr || rows.size() < best->size() ||
        (rows.size() == best->size() && rows.back() > best->back())) {
      best = &rows;
    }
  }
  return best == nullptr ? replays : *best;
}

}  // namespace

FoundStepsOrNone StepsFromReplays(const StepInputs& inputs, ProcessId process) {
  ThreadId thread;
  const GraphUse use = MostReplays(inputs, process, &thread);
  if (use.replays.size() < 3) return {};
  const ApiCallsTable& calls = inputs.store.api_calls;
  FoundSteps found{.source = StepSource::kGraphReplay,
                   .thread = thread,
                   .marker = std::string(inputs.store.Text(calls.name[use.replays.front()])),
                   .how =
                       "from one replay of the CUDA graph to the next (no optimizer step was "
                       "seen while it is replayed)"};
  const std::vector<uint32_t> ends = EndsOfSteps(inputs.store, use.replays);
  // What comes before the first replay, warm-up and capture, is one step: it is set apart by those.
  int64_t start_ns = calls.start_ns[ends.front()];
  const ThreadSpans::Rows marks = inputs.marks.RowsOf(thread);
  if (!marks.empty()) start_ns = std::min(start_ns, inputs.marks.all()[marks.begin].start_ns);
  for (const uint32_t row : ends) {
    found.steps.push_back({.start_ns = start_ns,
                           .end_ns = calls.end_ns[row],
                           .number = static_cast<int64_t>(found.steps.size())});
    start_ns = calls.end_ns[row];
  }
  return found;
}

}  // namespace batchlight
