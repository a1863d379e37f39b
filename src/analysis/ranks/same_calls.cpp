#include "analysis/ranks/same_calls.h"

#include <algorithm>

#include "analysis/ranks/call_numbers.h"
#include "analysis/ranks/call_replay.h"
#include "analysis/ranks/process_ranks.h"
#include "analysis/ranks/rank_calls.h"

namespace batchlight {

std::vector<std::vector<uint32_t>> FindSameCalls(const Store& store, const NcclCalls& nccl) {
  std::vector<std::vector<uint32_t>> same;
  if (nccl.calls.empty()) return same;
  const std::vector<RankCalls> calls = CollectRankCalls(store, nccl, {});
  const std::vector<std::vector<uint32_t>> rows = CallsInOrder(store, nccl);
  const std::vector<int32_t> ranks = FindProcessRanks(store);
  std::vector<const RankCalls*> taken;
  std::vector<size_t> process_of;
  for (size_t process = 0; process < calls.size(); ++process) {
    // Of calls with more kinds than are kept nothing tells which is which.
    if (calls[process].size() == 0 || calls[process].size() != rows[process].size()) continue;
    process_of.push_back(process);
  }
  std::stable_sort(process_of.begin(), process_of.end(),
                   [&](size_t a, size_t b) { return ranks[a] < ranks[b]; });
  for (const size_t process : process_of) taken.push_back(&calls[process]);
  ReplayCalls(taken, NumberCalls(taken, {}), [&](std::span<const CallOfRank> call) {
    if (call.size() < 2) return;
    std::vector<CallOfRank> by_rank(call.begin(), call.end());
    std::sort(by_rank.begin(), by_rank.end(),
              [](const CallOfRank& a, const CallOfRank& b) { return a.rank < b.rank; });
    std::vector<uint32_t>& one = same.emplace_back();
    for (const CallOfRank& of : by_rank) one.push_back(rows[process_of[of.rank]][of.call]);
  });
  return same;
}

std::vector<std::vector<uint32_t>> CallsInOrder(const Store& store, const NcclCalls& nccl) {
  std::vector<std::vector<uint32_t>> order(store.processes.size());
  for (uint32_t call = 0; call < nccl.calls.size(); ++call) {
    const ProcessId process = nccl.calls[call].process;
    if (!process.IsNone()) order[process.row()].push_back(call);
  }
  const auto made_ns = [&](uint32_t call) {
    return store.nvtx_ranges.start_ns[nccl.calls[call].range];
  };
  for (std::vector<uint32_t>& calls : order) {
    std::stable_sort(calls.begin(), calls.end(),
                     [&](uint32_t a, uint32_t b) { return made_ns(a) < made_ns(b); });
  }
  return order;
}

std::map<uint64_t, uint32_t> NumberCommunicators(const NcclCalls& nccl) {
  std::map<uint64_t, uint32_t> numbers;
  for (const NcclCall& call : nccl.calls) numbers[call.communicator] = 0;
  uint32_t next = 0;
  for (auto& [id, number] : numbers) number = next++;
  return numbers;
}

}  // namespace batchlight
