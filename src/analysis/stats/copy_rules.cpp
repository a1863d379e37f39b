// The rules about calls that block the host.
#include <algorithm>
#include <array>

#include "analysis/stats/cells.h"
#include "analysis/stats/duration_summary.h"
#include "analysis/stats/event_names.h"
#include "analysis/stats/expert_rule.h"
#include "analysis/stats/range_stacks.h"

namespace batchlight::stats {
namespace {

constexpr uint8_t kHostToDevice = 1;
constexpr uint8_t kDeviceToDevice = 8;
constexpr uint8_t kPageable = 0;
constexpr uint8_t kPinned = 1;
constexpr uint8_t kManaged = 4;
constexpr uint8_t kManagedStatic = 6;
constexpr uint64_t kSmallCopyBytes = 64 * 1024;  // returns once it is staged: does not block

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

void LongestFirst(std::vector<std::vector<Cell>>& rows, int64_t limit) {
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::get<int64_t>(a[0]) > std::get<int64_t>(b[0]);
  });
  if (limit >= 0 && rows.size() > static_cast<size_t>(limit)) {
    rows.resize(static_cast<size_t>(limit));
  }
}

template <typename Wanted>
Result<RuleResult> FindCopies(const Query& query, const Wanted& wanted) {
  ASSIGN_OR_RETURN(const RuleOptions options, ParseRuleOptions(query));
  const Store& store = query.store;
  ResultTable table;
  table.columns = {
      TimeColumn("Duration"),     TimeColumn("Start"),         TextColumn("Src Kind"),
      TextColumn("Dst Kind"),     BytesColumn("Bytes"),        IntegerColumn("PID"),
      IntegerColumn("Device ID"), IntegerColumn("Context ID"), IntegerColumn("Green Context ID"),
      IntegerColumn("Stream ID"), TextColumn("API Name")};
  for (size_t row = 0; row < store.memcpys.size(); ++row) {
    const MemcpysRow copy = store.memcpys.Row(row);
    if (copy.api_call.IsNone()) continue;
    const std::string_view name = store.Text(store.api_calls.name[copy.api_call.row()]);
    const ThreadId thread = store.api_calls.thread[copy.api_call.row()];
    if (!name.starts_with("cudaMemcpy") && !name.starts_with("cuMemcpy")) continue;
    if (!wanted(copy, name)) continue;
    if (!Selected(store, options, thread, copy.start_ns, copy.end_ns)) continue;
    table.rows.push_back(
        {copy.end_ns - copy.start_ns, copy.start_ns, std::string(MemoryKindLabel(copy.source_kind)),
         std::string(MemoryKindLabel(copy.destination_kind)), static_cast<int64_t>(copy.bytes),
         PidCell(store, copy.process), int64_t{copy.device}, int64_t{copy.context},
         GreenContextCell(copy.green_context), int64_t{copy.stream}, std::string(name)});
  }
  LongestFirst(table.rows, options.rows);
  return RuleResult{KeepRows(std::move(table)), {}};
}

}  // namespace

Result<RuleResult> FindPageableCopies(const Query& query) {
  ASSIGN_OR_RETURN(RuleResult result,
                   FindCopies(query, [](const MemcpysRow& copy, std::string_view name) {
                     return IsAsync(name) &&
                            (copy.source_kind == kPageable || copy.destination_kind == kPageable);
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
                   FindCopies(query, [](const MemcpysRow& copy, std::string_view name) {
                     if (IsAsync(name) || copy.copy_kind == kDeviceToDevice) return false;
                     return copy.copy_kind != kHostToDevice || copy.bytes > kSmallCopyBytes;
                   }));
  result.advice = result.rows.row_count == 0
                      ? "No synchronous copy blocks the host."
                      : "These copies block the host until they are done. Copies to the GPU of\n"
                        "64 KB or less, which do not, are left out.\n\n"
                        "Suggestion: use the asynchronous calls, cudaMemcpyAsync and its like.";
  return result;
}

Result<RuleResult> FindBlockingSets(const Query& query) {
  ASSIGN_OR_RETURN(const RuleOptions options, ParseRuleOptions(query));
  const Store& store = query.store;
  ResultTable table;
  table.columns = {TimeColumn("Duration"),      TimeColumn("Start"),
                   TextColumn("Memory Kind"),   BytesColumn("Bytes"),
                   IntegerColumn("PID"),        IntegerColumn("Device ID"),
                   IntegerColumn("Context ID"), IntegerColumn("Green Context ID"),
                   IntegerColumn("Stream ID"),  TextColumn("API Name")};
  for (size_t row = 0; row < store.memsets.size(); ++row) {
    const MemsetsRow set = store.memsets.Row(row);
    if (set.api_call.IsNone()) continue;
    if (set.memory_kind != kPinned && set.memory_kind != kManaged &&
        set.memory_kind != kManagedStatic) {
      continue;
    }
    const std::string_view name = store.Text(store.api_calls.name[set.api_call.row()]);
    const ThreadId thread = store.api_calls.thread[set.api_call.row()];
    if (IsAsync(name) || !Selected(store, options, thread, set.start_ns, set.end_ns)) continue;
    table.rows.push_back(
        {set.end_ns - set.start_ns, set.start_ns, std::string(MemoryKindLabel(set.memory_kind)),
         static_cast<int64_t>(set.bytes), PidCell(store, set.process), int64_t{set.device},
         int64_t{set.context}, GreenContextCell(set.green_context), int64_t{set.stream},
         std::string(name)});
  }
  LongestFirst(table.rows, options.rows);
  RuleResult result{KeepRows(std::move(table)), {}};
  result.advice =
      result.rows.row_count == 0
          ? "No synchronous memory set blocks the host."
          : "These sets of pinned or unified memory block the host until they are done.\n\n"
            "Suggestion: use the asynchronous calls, cudaMemsetAsync and its like.";
  return result;
}

Result<RuleResult> FindBlockingWaits(const Query& query) {
  constexpr auto kWaits = std::to_array<std::string_view>(
      {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaThreadSynchronize",
       "cuCtxSynchronize", "cuStreamSynchronize"});
  ASSIGN_OR_RETURN(const RuleOptions options, ParseRuleOptions(query));
  const Store& store = query.store;
  ResultTable table;
  table.columns = {TimeColumn("Duration"), TimeColumn("Start"), IntegerColumn("PID"),
                   IntegerColumn("TID"), TextColumn("API Name")};
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
    table.rows.push_back(std::move(cells));
  }
  LongestFirst(table.rows, options.rows);
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
