#include "export/call_walk.h"

#include <algorithm>

#include "analysis/numbers/closed_end.h"

namespace batchlight {
namespace {

// Rows of a table that is ordered by thread.
template <typename Table>
std::pair<size_t, size_t> RowsOf(const Table& table, ThreadId thread) {
  const auto range = std::equal_range(table.thread.begin(), table.thread.end(), thread);
  return {static_cast<size_t>(range.first - table.thread.begin()),
          static_cast<size_t>(range.second - table.thread.begin())};
}

template <typename Table>
void Collect(const Store& store, const EventSelection& selection, const Table& table,
             const std::vector<StringId>& names, ThreadId thread, CallSource source,
             std::vector<Call>& calls) {
  if (!selection.HasTable(Table::kName)) return;
  const auto [begin, end] = RowsOf(table, thread);
  calls.reserve(calls.size() + end - begin);
  for (size_t row = begin; row < end; ++row) {
    if constexpr (std::is_same_v<Table, NvtxRangesTable>) {
      if (table.style[row] != NvtxStyle::kPushPop) continue;
    }
    if (!selection.HasTime(table.start_ns[row], table.end_ns[row])) continue;
    calls.push_back({table.start_ns[row], ClosedEnd(store, table.start_ns[row], table.end_ns[row]),
                     source, static_cast<uint32_t>(row), names[row]});
  }
}

}  // namespace

std::vector<Call> CallsOf(const Store& store, ThreadId thread, const EventSelection& selection) {
  std::vector<Call> calls;
  if (!selection.HasThread(thread)) return calls;
  const auto collect = [&](const auto& table, const auto& names, CallSource source) {
    Collect(store, selection, table, names, thread, source, calls);
  };
  collect(store.nvtx_ranges, store.nvtx_ranges.message, CallSource::kNvtx);
  collect(store.phase_calls, store.phase_calls.name, CallSource::kPhase);
  collect(store.module_calls, store.module_calls.path, CallSource::kModule);
  collect(store.operator_calls, store.operator_calls.name, CallSource::kOperator);
  collect(store.api_calls, store.api_calls.name, CallSource::kApi);
  std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  std::vector<int64_t> open;  // ends
  for (Call& call : calls) {
    while (!open.empty() && open.back() <= call.start_ns) open.pop_back();
    if (!open.empty()) call.end_ns = std::min(call.end_ns, open.back());
    open.push_back(call.end_ns);
  }
  return calls;
}

}  // namespace batchlight
