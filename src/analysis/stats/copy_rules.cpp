// The rules about calls that block the host.
#include <algorithm>
#include <array>
#include <map>

#include "analysis/stats/cells.h"
#include "analysis/stats/duration_summary.h"
#include "analysis/stats/event_names.h"
#include "analysis/stats/expert_rule.h"
#include "analysis/stats/range_stacks.h"

namespace batchlight::stats {
namespace {

constexpr uint64_t kSmallCopyBytes = 64 * 1024;  // returns once it is staged: does not block

// nsys looks at calls of the runtime only.
bool IsCall(std::string_view name, std::string_view runtime, std::string_view driver,
            bool nsys_compat) {
  return name.starts_with(runtime) || (name.starts_with(driver) && !nsys_compat);
}

bool IsAsync(std::string_view name) { return name.find("Async") != std::string_view::npos; }

// The process, thread and time options applied to a row with its call.
bool Selected(const Store& store, const RuleOptions& options, ThreadId thread, int64_t start,
              int64_t end) {
  if (start < options.window.start_ns || end > options.window.end_ns) return false;
  if (options.process < 0 && options.thread < 0) return true;
  if (thread.IsNone()) return false;
  const ProcessId process = store.threads.process[thread.row()];
  if (options.thread >= 0 && store.threads.tid[thread.row()] != options.thread) return false;
  return options.process < 0 ||
         (!process.IsNone() && store.processes.pid[process.row()] == options.process);
}

// A row of the answer and when its call began, which orders rows of the same duration.
struct Found {
  int64_t call_start;
  std::vector<Cell> cells;  // the first is the duration
};

std::vector<std::vector<Cell>> LongestFirst(std::vector<Found> found, int64_t limit) {
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    const auto duration = [](const Found& row) { return std::get<int64_t>(row.cells[0]); };
    return duration(a) != duration(b) ? duration(a) > duration(b) : a.call_start < b.call_start;
  });
  if (limit >= 0 && found.size() > static_cast<size_t>(limit)) {
    found.resize(static_cast<size_t>(limit));
  }
  std::vector<std::vector<Cell>> rows;
  for (Found& row : found) rows.push_back(std::move(row.cells));
  return rows;
}

// visit(row, call) for every row of a GPU table with the call that made it. nsys joins them by
// correlation id alone, which several processes use: a row then appears with others' calls too.
template <typename Table, typename Visit>
void VisitWithCalls(const Query& query, const Table& table, const Visit& visit) {
  if (!query.nsys_compat) {
    for (size_t row = 0; row < table.size(); ++row) {
      if (!table.api_call[row].IsNone()) visit(row, table.api_call[row].row());
    }
    return;
  }
  std::multimap<uint32_t, size_t> by_correlation;  // keeps the order of equal keys
  for (size_t row = 0; row < table.size(); ++row) {
    if (table.correlation[row] != 0) by_correlation.emplace(table.correlation[row], row);
  }
  const ApiCallsTable& calls = query.store.api_calls;
  for (size_t call = 0; call < calls.size(); ++call) {
    const auto [first, last] = by_correlation.equal_range(calls.correlation[call]);
    for (auto row = first; row != last; ++row) visit(row->second, call);
  }
}

template <typename Wanted>
Result<RuleResult> FindCopies(const Query& query, const Wanted& wanted) {
  ASSIGN_OR_RETURN(const RuleOptions options, ReadRuleOptions(query));
  const Store& store = query.store;
  ResultTable table;
  table.columns = {
      TimeColumn("Duration"),     TimestampColumn("Start"),    TextColumn("Src Kind"),
      TextColumn("Dst Kind"),     BytesColumn("Bytes"),        IntegerColumn("PID"),
      IntegerColumn("Device ID"), IntegerColumn("Context ID"), IntegerColumn("Green Context ID"),
      IntegerColumn("Stream ID"), TextColumn("API Name")};
  std::vector<Found> found;
  VisitWithCalls(query, store.memcpys, [&](size_t row, size_t call) {
    const MemcpysRow copy = store.memcpys.Row(row);
    const std::string_view name = store.Text(store.api_calls.name[call]);
    if (!IsCall(name, "cudaMemcpy", "cuMemcpy", query.nsys_compat)) return;
    if (!wanted(copy, name)) return;
    const ThreadId thread = store.api_calls.thread[call];
    if (!Selected(store, options, thread, copy.start_ns, copy.end_ns)) return;
    found.push_back(
        {store.api_calls.start_ns[call],
         {copy.end_ns - copy.start_ns, copy.start_ns, std::string(Label(copy.source_kind)),
          std::string(Label(copy.destination_kind)), static_cast<int64_t>(copy.bytes),
          PidCell(store, copy.process), int64_t{copy.device}, int64_t{copy.context},
          GreenContextCell(copy.green_context), int64_t{copy.stream}, std::string(name)}});
  });
  table.rows = LongestFirst(std::move(found), options.rows);
  return RuleResult{KeepRows(std::move(table)), {}};
}

}  // namespace

Result<RuleResult> FindPageableCopies(const Query& query) {
  ASSIGN_OR_RETURN(RuleResult result,
                   FindCopies(query, [](const MemcpysRow& copy, std::string_view name) {
                     return IsAsync(name) && (copy.source_kind == MemoryKind::kPageable ||
                                              copy.destination_kind == MemoryKind::kPageable);
                   }));
  result.advice =
      result.rows.row_count == 0
          ? "No asynchronous copy uses pageable memory."
          : "These copies were asked for asynchronously but one side is PAGEABLE memory, so\n"
            "that the driver stages them and the host waits.\n\n"
            "Suggestion: use pinned memory, in PyTorch DataLoader(pin_memory=True) together\n"
            "with .to(device, non_blocking=True).";
  return result;
}

Result<RuleResult> FindBlockingCopies(const Query& query) {
  ASSIGN_OR_RETURN(RuleResult result,
                   FindCopies(query, [&](const MemcpysRow& copy, std::string_view name) {
                     if (IsAsync(name)) return false;
                     // Inside a device nothing waits; nsys means to leave these out as well.
                     if (copy.copy_kind == CopyKind::kDeviceToDevice) return query.nsys_compat;
                     return copy.copy_kind != CopyKind::kHostToDevice ||
                            copy.bytes > kSmallCopyBytes - (query.nsys_compat ? 1 : 0);
                   }));
  result.advice = result.rows.row_count == 0
                      ? "No synchronous copy blocks the host."
                      : "These copies block the host until they are done. Copies to the GPU of\n"
                        "64 KB or less, which do not, are left out.\n\n"
                        "Suggestion: use the asynchronous calls, cudaMemcpyAsync and its like.";
  return result;
}

Result<RuleResult> FindBlockingSets(const Query& query) {
  ASSIGN_OR_RETURN(const RuleOptions options, ReadRuleOptions(query));
  const Store& store = query.store;
  ResultTable table;
  table.columns = {TimeColumn("Duration"),      TimestampColumn("Start"),
                   TextColumn("Memory Kind"),   BytesColumn("Bytes"),
                   IntegerColumn("PID"),        IntegerColumn("Device ID"),
                   IntegerColumn("Context ID"), IntegerColumn("Green Context ID"),
                   IntegerColumn("Stream ID"),  TextColumn("API Name")};
  std::vector<Found> found;
  VisitWithCalls(query, store.memsets, [&](size_t row, size_t call) {
    const MemsetsRow set = store.memsets.Row(row);
    const bool unified = set.memory_kind == MemoryKind::kManaged ||
                         (set.memory_kind == MemoryKind::kManagedStatic && !query.nsys_compat);
    if (set.memory_kind != MemoryKind::kPinned && !unified) return;
    const std::string_view name = store.Text(store.api_calls.name[call]);
    if (!IsCall(name, "cudaMemset", "cuMemset", query.nsys_compat)) return;
    const ThreadId thread = store.api_calls.thread[call];
    if (IsAsync(name) || !Selected(store, options, thread, set.start_ns, set.end_ns)) return;
    found.push_back(
        {store.api_calls.start_ns[call],
         {set.end_ns - set.start_ns, set.start_ns, std::string(Label(set.memory_kind)),
          static_cast<int64_t>(set.bytes), PidCell(store, set.process), int64_t{set.device},
          int64_t{set.context}, GreenContextCell(set.green_context), int64_t{set.stream},
          std::string(name)}});
  });
  table.rows = LongestFirst(std::move(found), options.rows);
  RuleResult result{KeepRows(std::move(table)), {}};
  result.advice =
      result.rows.row_count == 0
          ? "No synchronous memory set blocks the host."
          : "These sets of pinned or unified memory block the host until they are done.\n\n"
            "Suggestion: use the asynchronous calls, cudaMemsetAsync and its like.";
  return result;
}

Result<RuleResult> FindBlockingWaits(const Query& query) {
  constexpr auto kWaits =
      std::to_array<std::string_view>({"cudaDeviceSynchronize", "cudaStreamSynchronize"});
  ASSIGN_OR_RETURN(const RuleOptions options, ReadRuleOptions(query));
  const Store& store = query.store;
  ResultTable table;
  table.columns = {TimeColumn("Duration"), TimestampColumn("Start"), IntegerColumn("PID"),
                   IntegerColumn("TID"), TextColumn("API Name")};
  std::vector<Found> found;
  for (size_t row = 0; row < store.api_calls.size(); ++row) {
    const ApiCallsRow call = store.api_calls.Row(row);
    const std::string_view name = store.Text(call.name);
    if (std::none_of(kWaits.begin(), kWaits.end(),
                     [&](std::string_view wait) { return name.starts_with(wait); })) {
      continue;
    }
    if (!Selected(store, options, call.thread, call.start_ns, call.end_ns)) continue;
    std::vector<Cell> cells(5);
    cells[0] = call.end_ns - call.start_ns;
    cells[1] = call.start_ns;
    SetThread(store, call.thread, cells[2], cells[3]);
    cells[4] = std::string(name);
    found.push_back({call.start_ns, std::move(cells)});
  }
  table.rows = LongestFirst(std::move(found), options.rows);
  RuleResult result{KeepRows(std::move(table)), {}};
  result.advice =
      result.rows.row_count == 0
          ? "No call waits for all work of the GPU."
          : "These calls hold the host until the GPU has done all that was asked of it.\n\n"
            "Suggestions:\n"
            "   1. Synchronize less often: .item(), .cpu() and printing a loss do it each time.\n"
            "   2. Let the GPU wait instead of the host: cudaStreamWaitEvent and CUDA events.";
  return result;
}

}  // namespace batchlight::stats
