// osrt_sum, syscall_sum, openmp_sum, openacc_sum.
#include <algorithm>

#include "analysis/stats/duration_summary.h"
#include "analysis/stats/report_functions.h"

namespace batchlight::stats {
namespace {

// Sums the rows that `keep` accepts by their name.
template <typename Table, typename Keep>
RowSource SumByName(const Query& query, const Table& table, std::string count, const Keep& keep) {
  GroupNumbers groups;
  GroupedValues values;
  for (size_t row = 0; row < table.size(); ++row) {
    const int64_t end = table.end_ns[row] == kOpenEnd ? query.store.duration_ns : table.end_ns[row];
    if (!keep(row) || !query.Keep(table.start_ns[row], end)) continue;
    values.Add(groups.Of(table.name[row].value), std::max<int64_t>(0, end - table.start_ns[row]));
  }
  const std::vector<Summary> summaries = values.Summarize();
  std::vector<SummaryGroup> rows;
  for (uint32_t group = 0; group < groups.size(); ++group) {
    const StringId name{static_cast<uint32_t>(groups.keys()[group])};
    rows.push_back({summaries[group], {std::string(query.store.Text(name))}, name.value});
  }
  ResultTable result;
  result.columns = SummaryColumns(std::move(count));
  result.columns.push_back(TextColumn("Name"));
  result.rows = RowsByTotal(std::move(rows), Ties::kByNumber);
  return KeepRows(std::move(result));
}

RowSource SumCalls(const Query& query, EventClass event_class) {
  const OsCallsTable& calls = query.store.os_calls;
  return SumByName(query, calls, "Num Calls",
                   [&](size_t row) { return calls.event_class[row] == event_class; });
}

RowSource SumFamily(const Query& query, RuntimeFamily family, std::string count) {
  const RuntimeEventsTable& events = query.store.runtime_events;
  return SumByName(query, events, std::move(count),
                   [&](size_t row) { return events.family[row] == family; });
}

}  // namespace

Result<RowSource> OsrtSum(const Query& query) { return SumCalls(query, EventClass::kOsRuntime); }
Result<RowSource> SyscallSum(const Query& query) {
  return SumCalls(query, EventClass::kSystemCall);
}
Result<RowSource> OpenMpSum(const Query& query) {
  return SumFamily(query, RuntimeFamily::kOpenMp, "Count");
}
Result<RowSource> OpenAccSum(const Query& query) {
  return SumFamily(query, RuntimeFamily::kOpenAcc, "Num Calls");
}

}  // namespace batchlight::stats
