#include "analysis/stats/os_reports.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/stats/duration_summary.h"
#include "analysis/stats/range_stacks.h"

namespace batchlight::stats {

Result<RowSource> OsrtTrace(const Query& query) {
  const OsCallsTable& calls = query.store.os_calls;
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < calls.size(); ++row) {
    if (calls.event_class[row] != EventClass::kOsRuntime) continue;
    if (query.Keep(calls.start_ns[row], calls.end_ns[row])) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return calls.start_ns[a] < calls.start_ns[b]; });
  RowSource source;
  source.columns = {TimestampColumn("Start"), TimeColumn("Duration"), TextColumn("Name"),
                    IntegerColumn("Result"),  IntegerColumn("Pid"),   IntegerColumn("Tid"),
                    TextColumn("Thread Name")};
  source.row_count = rows.size();
  source.fill = [&store = query.store, rows = std::move(rows)](size_t index,
                                                               std::vector<Cell>& cells) {
    const OsCallsRow call = store.os_calls.Row(rows[index]);
    cells[0] = call.start_ns;
    cells[1] = std::max(call.start_ns, std::min(call.end_ns, store.duration_ns)) - call.start_ns;
    cells[2] = std::string(store.Text(call.name));
    cells[3] = call.result;
    SetThread(store, call.thread, cells[4], cells[5]);
    cells[6] = call.thread.IsNone()
                   ? Cell()
                   : Cell(std::string(store.Text(store.threads.name[call.thread.row()])));
  };
  return source;
}

}  // namespace batchlight::stats
