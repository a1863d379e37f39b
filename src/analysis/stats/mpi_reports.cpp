// mpi_event_sum, mpi_event_trace, mpi_msg_size_sum.
#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/stats/duration_summary.h"
#include "analysis/stats/range_stacks.h"
#include "analysis/stats/report_functions.h"

namespace batchlight::stats {
namespace {

Cell Rank(int32_t value) { return value == kNoMpiValue ? Cell() : Cell(int64_t{value}); }
Cell Bytes(int64_t value) { return value < 0 ? Cell() : Cell(value); }

using Groups = std::map<std::pair<std::string, StringId>, std::vector<int64_t>>;

std::vector<std::vector<Cell>> Rows(const Store& store, Groups&& groups) {
  std::vector<SummaryGroup> rows;
  for (auto& [key, values] : groups) {
    rows.push_back(
        {Summarize(values), {key.first, std::string(store.Text(key.second))}, key.second.value});
  }
  return RowsByTotal(std::move(rows), Ties::kByNumber);
}

}  // namespace

Result<RowSource> MpiEventSum(const Query& query) {
  const MpiEventsTable& events = query.store.mpi_events;
  Groups groups;
  for (size_t row = 0; row < events.size(); ++row) {
    if (!query.Keep(events.start_ns[row], events.end_ns[row])) continue;
    groups[{std::string(ShortName(events.kind[row])), events.name[row]}].push_back(
        events.end_ns[row] - events.start_ns[row]);
  }
  ResultTable table;
  table.columns = SummaryColumns("Instances");
  table.columns.push_back(TextColumn("Source"));
  table.columns.push_back(TextColumn("Name"));
  table.rows = Rows(query.store, std::move(groups));
  return KeepRows(std::move(table));
}

Result<RowSource> MpiMsgSizeSum(const Query& query) {
  const MpiEventsTable& events = query.store.mpi_events;
  Groups groups;
  for (size_t row = 0; row < events.size(); ++row) {
    if (!query.Keep(events.start_ns[row], events.end_ns[row])) continue;
    const StringId name = events.name[row];
    if (events.bytes[row] >= 0) groups[{"p2p", name}].push_back(events.bytes[row]);
    if (events.send_bytes[row] >= 0) {
      groups[{"coll_send", name}].push_back(events.send_bytes[row]);
    }
    if (events.receive_bytes[row] >= 0) {
      groups[{"coll_recv", name}].push_back(events.receive_bytes[row]);
    }
  }
  ResultTable table;
  table.columns = {IntegerColumn("Total Message Volume"),
                   IntegerColumn("Instances"),
                   RealColumn("Avg"),
                   RealColumn("Med"),
                   IntegerColumn("Min"),
                   IntegerColumn("Max"),
                   RealColumn("StdDev"),
                   TextColumn("Source"),
                   TextColumn("Name")};
  std::vector<std::vector<Cell>> rows = Rows(query.store, std::move(groups));
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {  // most messages first
    return a[2] != b[2] ? a[2] > b[2] : std::tie(a[9], a[8]) < std::tie(b[9], b[8]);
  });
  for (auto& cells : rows) {
    table.rows.emplace_back(cells.begin() + 1, cells.end());
  }
  return KeepRows(std::move(table));
}

Result<RowSource> MpiEventTrace(const Query& query) {
  const MpiEventsTable& events = query.store.mpi_events;
  std::vector<uint32_t> rows;
  for (size_t row = 0; row < events.size(); ++row) {
    if (query.Keep(events.start_ns[row], events.end_ns[row])) {
      rows.push_back(static_cast<uint32_t>(row));
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return events.start_ns[a] < events.start_ns[b]; });
  RowSource source;
  source.columns = {TimestampColumn("Start"),   TimestampColumn("End"), TimeColumn("Duration"),
                    TextColumn("Event"),        IntegerColumn("Pid"),   IntegerColumn("Tid"),
                    IntegerColumn("Tag"),       IntegerColumn("Rank"),  IntegerColumn("PeerRank"),
                    IntegerColumn("RootRank"),  BytesColumn("Size"),    BytesColumn("CollSendSize"),
                    BytesColumn("CollRecvSize")};
  source.row_count = rows.size();
  source.fill = [&store = query.store, rows = std::move(rows)](size_t index,
                                                               std::vector<Cell>& cells) {
    const MpiEventsRow event = store.mpi_events.Row(rows[index]);
    cells[0] = event.start_ns;
    cells[1] = event.end_ns;
    cells[2] = event.end_ns - event.start_ns;
    cells[3] = std::string(store.Text(event.name));
    SetThread(store, event.thread, cells[4], cells[5]);
    cells[6] = Rank(event.tag);
    cells[7] = Rank(event.rank);
    cells[8] = Rank(event.peer_rank);
    cells[9] = Rank(event.root_rank);
    cells[10] = Bytes(event.bytes);
    cells[11] = Bytes(event.send_bytes);
    cells[12] = Bytes(event.receive_bytes);
  };
  return source;
}

}  // namespace batchlight::stats
