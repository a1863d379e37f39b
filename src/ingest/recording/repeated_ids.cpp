#include "ingest/recording/repeated_ids.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace batchlight {
namespace {

using Key = std::pair<uint32_t, uint32_t>;  // row of the process, correlation id

enum class Launches { kNothing, kKernel, kCopy, kSet };

Launches WhatLaunches(std::string_view call) {
  if (call.find("Launch") != call.npos && call.find("Kernel") != call.npos) {
    return Launches::kKernel;
  }
  if (call.find("Memcpy") != call.npos) return Launches::kCopy;
  return call.find("Memset") != call.npos ? Launches::kSet : Launches::kNothing;
}

// Rows of one id, in the order of the records.
struct Repeated {
  std::vector<uint32_t> calls;
  std::vector<uint32_t> work[3];  // kernels, copies, sets
};

std::vector<uint32_t> HighestIds(std::span<const ProcessId> processes, const Store& store) {
  std::vector<uint32_t> highest(store.processes.size());
  for (size_t row = 0; row < processes.size(); ++row) {
    if (processes[row].IsNone()) continue;
    uint32_t& id = highest[processes[row].row()];
    id = std::max(id, store.api_calls.correlation[row]);
  }
  return highest;
}

std::map<Key, Repeated> FindRepeated(std::span<const ProcessId> processes,
                                     const std::vector<uint32_t>& highest, const Store& store) {
  std::vector<std::vector<bool>> seen(highest.size());
  for (size_t process = 0; process < seen.size(); ++process) {
    // Ids of a damaged recording may be anything: then nothing is looked for.
    if (highest[process] <= 16 * processes.size() + (1 << 20)) {
      seen[process].resize(size_t{highest[process]} + 1);
    }
  }
  std::map<Key, Repeated> repeated;
  const auto& ids = store.api_calls.correlation;
  for (size_t row = 0; row < processes.size(); ++row) {
    if (processes[row].IsNone() || ids[row] == 0) continue;
    std::vector<bool>& known = seen[processes[row].row()];
    if (known.empty()) continue;
    if (known[ids[row]]) repeated[{processes[row].row(), ids[row]}];
    known[ids[row]] = true;
  }
  return repeated;
}

template <typename Table>
void AddWork(const Table& table, int kind, std::map<Key, Repeated>& repeated) {
  for (size_t row = 0; row < table.size(); ++row) {
    if (table.process[row].IsNone()) continue;
    const auto found = repeated.find({table.process[row].row(), table.correlation[row]});
    if (found != repeated.end()) found->second.work[kind].push_back(static_cast<uint32_t>(row));
  }
}

// False if no kind of work could be told apart.
bool Separate(const Repeated& rows, uint32_t next_id, Store& store) {
  ApiCallsTable& calls = store.api_calls;
  std::vector<uint32_t> launchers[3];
  for (size_t i = 0; i < rows.calls.size(); ++i) {
    const auto what = static_cast<int>(WhatLaunches(store.Text(calls.name[rows.calls[i]])));
    if (what > 0) launchers[what - 1].push_back(static_cast<uint32_t>(i));
  }
  const auto write = [&](int kind, std::vector<uint32_t>& ids) {
    const std::vector<uint32_t>& work = rows.work[kind];
    if (work.size() < 2 || work.size() != launchers[kind].size()) return false;
    for (size_t i = 0; i < work.size(); ++i) ids[work[i]] = next_id + launchers[kind][i];
    return true;
  };
  const bool kernels = write(0, store.kernels.correlation);
  const bool copies = write(1, store.memcpys.correlation);
  const bool sets = write(2, store.memsets.correlation);
  if (!kernels && !copies && !sets) return false;
  const bool separated[] = {true, kernels, copies, sets};
  for (size_t i = 0; i < rows.calls.size(); ++i) {
    const uint32_t row = rows.calls[i];
    const auto what = static_cast<size_t>(WhatLaunches(store.Text(calls.name[row])));
    if (separated[what]) calls.correlation[row] = next_id + static_cast<uint32_t>(i);
  }
  return true;
}

}  // namespace

void SeparateRepeatedIds(std::span<const ProcessId> processes, Store& store) {
  std::vector<uint32_t> highest = HighestIds(processes, store);
  std::map<Key, Repeated> repeated = FindRepeated(processes, highest, store);
  if (repeated.empty()) return;
  for (size_t row = 0; row < processes.size(); ++row) {
    if (processes[row].IsNone()) continue;
    const auto found = repeated.find({processes[row].row(), store.api_calls.correlation[row]});
    if (found != repeated.end()) found->second.calls.push_back(static_cast<uint32_t>(row));
  }
  AddWork(store.kernels, 0, repeated);
  AddWork(store.memcpys, 1, repeated);
  AddWork(store.memsets, 2, repeated);
  for (auto& [key, rows] : repeated) {
    uint32_t& last = highest[key.first];
    if (last > UINT32_MAX - rows.calls.size() - 1) continue;
    if (Separate(rows, last + 1, store)) last += static_cast<uint32_t>(rows.calls.size());
  }
}

}  // namespace batchlight
