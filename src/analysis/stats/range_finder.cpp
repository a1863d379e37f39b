#include "analysis/stats/range_finder.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "analysis/numbers/most_levels.h"
#include "analysis/stats/event_names.h"

namespace batchlight::stats {
namespace {

// Adds the rows of a GPU table that are in the window together with their calls.
template <typename Table>
void AddWork(const Query& query, const Table& table, GpuWork::Kind kind,
             std::vector<GpuWork>& work) {
  const ApiCallsTable& calls = query.store.api_calls;
  for (size_t row = 0; row < table.size(); ++row) {
    const ApiCallId call = table.api_call[row];
    if (call.IsNone() || !query.Of(table.process[row])) continue;
    if (!query.Keep(table.start_ns[row], table.end_ns[row])) continue;
    if (!query.Keep(calls.start_ns[call.row()], calls.end_ns[call.row()])) continue;
    work.push_back(
        {kind, static_cast<uint32_t>(row), call, table.start_ns[row], table.end_ns[row]});
  }
}

void SortByCall(std::vector<GpuWork>& work) {
  std::stable_sort(work.begin(), work.end(),
                   [](const GpuWork& a, const GpuWork& b) { return a.call < b.call; });
}

}  // namespace

std::vector<GpuWork> KernelsWithEveryCall(const Query& query) {
  std::vector<GpuWork> work = LaunchedWork(query, true);
  const ApiCallsTable& calls = query.store.api_calls;
  using Key = std::pair<ProcessId, uint32_t>;
  std::map<Key, std::vector<ApiCallId>> doubled;
  const auto key_of = [&](size_t row) {
    return Key(query.store.ProcessOf(calls.thread[row]), calls.correlation[row]);
  };
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.event_class[row] == EventClass::kCudaBacktrace) doubled[key_of(row)];
  }
  if (doubled.empty()) return work;
  for (size_t row = 0; row < calls.size(); ++row) {
    const auto found = doubled.find(key_of(row));
    if (found != doubled.end()) found->second.push_back(ApiCallId::At(row));
  }
  const size_t count = work.size();
  for (size_t i = 0; i < count; ++i) {
    const auto found = doubled.find(key_of(work[i].call.row()));
    if (found == doubled.end()) continue;
    for (const ApiCallId call : found->second) {
      if (call == work[i].call) continue;
      work.push_back(work[i]);
      work.back().call = call;
    }
  }
  SortByCall(work);
  return work;
}

std::vector<GpuWork> LaunchedWork(const Query& query, bool kernels_only) {
  std::vector<GpuWork> work;
  AddWork(query, query.store.kernels, GpuWork::Kind::kKernel, work);
  if (!kernels_only) {
    AddWork(query, query.store.memcpys, GpuWork::Kind::kMemcpy, work);
    AddWork(query, query.store.memsets, GpuWork::Kind::kMemset, work);
    AddWork(query, query.store.graph_launches, GpuWork::Kind::kGraph, work);
  }
  SortByCall(work);
  return work;
}

void VisitEnclosingRanges(
    const Query& query, std::span<const GpuWork> work,
    const std::function<void(size_t work_index, std::span<const uint32_t> ranges)>& visit) {
  // Calls and ranges are both ordered by (thread, start): one pass over the two, with the ranges
  // that have started and not ended at hand.
  const ApiCallsTable& calls = query.store.api_calls;
  const NvtxRangesTable& ranges = query.store.nvtx_ranges;
  const int64_t latest = LatestRangeTime(query.store);
  const auto end_of = [&](uint32_t range) {
    return ranges.end_ns[range] == kOpenEnd ? latest : ranges.end_ns[range];
  };
  std::vector<uint32_t> open;
  std::vector<uint32_t> enclosing;
  ThreadId thread;
  size_t next = 0;
  ApiCallId last_call;
  for (size_t i = 0; i < work.size(); ++i) {
    const size_t call = work[i].call.row();
    if (work[i].call != last_call) {
      last_call = work[i].call;
      if (calls.thread[call] != thread) {
        thread = calls.thread[call];
        open.clear();
        next = static_cast<size_t>(
            std::lower_bound(ranges.thread.begin() + static_cast<ptrdiff_t>(next),
                             ranges.thread.end(), thread) -
            ranges.thread.begin());
      }
      for (; next < ranges.size() && ranges.thread[next] == thread &&
             ranges.start_ns[next] <= calls.start_ns[call];
           ++next) {
        if (ranges.end_thread[next] != thread) continue;
        const auto row = static_cast<uint32_t>(next);
        if (query.Keep(ranges.start_ns[next], end_of(row))) open.push_back(row);
      }
      std::erase_if(open, [&](uint32_t range) { return end_of(range) < calls.start_ns[call]; });
      enclosing.clear();
      for (const uint32_t range : open) {
        if (end_of(range) >= calls.end_ns[call]) enclosing.push_back(range);
      }
    }
    const std::span<const uint32_t> all(enclosing);
    visit(i, all.last(std::min(all.size(), kMostLevels)));
  }
}

std::vector<uint32_t> InnermostRanges(const Query& query) {
  std::vector<uint32_t> innermost(query.store.kernels.size(), UINT32_MAX);
  const std::vector<GpuWork> work = LaunchedWork(query, true);
  VisitEnclosingRanges(query, work, [&](size_t i, std::span<const uint32_t> ranges) {
    if (!ranges.empty()) innermost[work[i].row] = ranges.back();
  });
  return innermost;
}

}  // namespace batchlight::stats
