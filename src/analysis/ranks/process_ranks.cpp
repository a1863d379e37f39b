#include "analysis/ranks/process_ranks.h"

namespace batchlight {
namespace {

void AddMpiRanks(const Store& store, std::vector<int32_t>& ranks) {
  const MpiEventsTable& events = store.mpi_events;
  for (size_t row = 0; row < events.size(); ++row) {
    const ProcessId process = store.ProcessOf(events.thread[row]);
    if (process.IsNone() || ranks[process.row()] >= 0 || events.rank[row] < 0) continue;
    ranks[process.row()] = events.rank[row];
  }
}

}  // namespace

std::vector<int32_t> FindProcessRanks(const Store& store) {
  const ProcessesTable& processes = store.processes;
  std::vector<int32_t> ranks(processes.rank.begin(), processes.rank.end());
  AddMpiRanks(store, ranks);
  for (size_t row = 0; row < ranks.size(); ++row) {  // parents stand before their children
    const ProcessId parent = processes.parent[row];
    if (ranks[row] < 0 && !parent.IsNone()) ranks[row] = ranks[parent.row()];
  }
  return ranks;
}

}  // namespace batchlight
