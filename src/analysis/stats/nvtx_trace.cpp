// nvtx_pushpop_trace, and the shape of push/pop stacks that the projections share.
#include <algorithm>
#include <numeric>

#include "analysis/stats/cells.h"
#include "analysis/stats/duration_summary.h"
#include "analysis/stats/event_names.h"
#include "analysis/stats/range_stacks.h"
#include "analysis/stats/report_functions.h"
#include "nsys/nvtx_event_order.h"

namespace batchlight::stats {

RangeStacks::RangeStacks(const Query& query, bool push_pop_only) : query_(query) {
  const NvtxRangesTable& ranges = query.store.nvtx_ranges;
  latest_ = LatestRangeTime(query.store);
  const std::vector<uint32_t> all_ids = nsys::NvtxRangeIds(query.store);
  ids_.assign(ranges.size(), 0);
  parents_.assign(ranges.size(), kNoRange);
  children_.assign(ranges.size(), 0);
  child_time_.assign(ranges.size(), 0);
  for (size_t row = 0; row < ranges.size(); ++row) {
    const bool push_pop = ranges.style[row] == NvtxStyle::kPushPop;
    if (push_pop_only && !push_pop) continue;
    if (!query.Keep(ranges.start_ns[row], End(row))) continue;
    rows_.push_back(static_cast<uint32_t>(row));
    ids_[row] = all_ids[row];
  }
  std::sort(rows_.begin(), rows_.end(), [&](uint32_t a, uint32_t b) { return ids_[a] < ids_[b]; });
  FindParents();
  for (const uint32_t row : rows_) {
    const uint32_t parent = Parent(row);
    if (parent == kNoRange) continue;
    ++children_[parent];
    child_time_[parent] += End(row) - ranges.start_ns[row];
  }
}

int64_t RangeStacks::End(size_t row) const {
  const int64_t end = query_.store.nvtx_ranges.end_ns[row];
  return end == kOpenEnd ? latest_ : end;
}

void RangeStacks::FindParents() {
  const NvtxRangesTable& ranges = query_.store.nvtx_ranges;
  std::vector<uint32_t> open;
  ThreadId thread;
  for (uint32_t row = 0; row < ranges.size(); ++row) {  // by thread and start
    if (ids_[row] == 0 || ranges.end_thread[row] != ranges.thread[row]) continue;
    if (ranges.thread[row] != thread) open.clear();
    thread = ranges.thread[row];
    while (!open.empty() && End(open.back()) <= ranges.start_ns[row]) open.pop_back();
    // Ranges of different domains may overlap without one being inside the other.
    const auto around = std::find_if(open.rbegin(), open.rend(),
                                     [&](uint32_t outer) { return End(outer) >= End(row); });
    if (around != open.rend()) parents_[row] = *around;
    open.push_back(row);
  }
}

int64_t RangeStacks::Level(size_t row) const {
  int64_t level = 0;
  for (uint32_t up = Parent(row); up != kNoRange; up = Parent(up)) ++level;
  return level;
}

std::string RangeStacks::Stack(size_t row) const {
  std::vector<uint64_t> ids = {ids_[row]};
  for (uint32_t up = Parent(row); up != kNoRange; up = Parent(up)) ids.push_back(ids_[up]);
  std::string stack;
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) stack += ':' + std::to_string(*id);
  return stack;
}

Result<RowSource> NvtxPushPopTrace(const Query& query) {
  RowSource source;
  source.columns = {TimestampColumn("Start"),  TimestampColumn("End"),    TimeColumn("Duration"),
                    TimeColumn("DurChild"),    TimeColumn("DurNonChild"), TextColumn("Name"),
                    IntegerColumn("PID"),      IntegerColumn("TID"),      IntegerColumn("Lvl"),
                    IntegerColumn("NumChild"), IntegerColumn("RangeId"),  IntegerColumn("ParentId"),
                    TextColumn("RangeStack"),  TextColumn("NameTree")};
  RangeStacks stacks(query, true);
  const NvtxRangesTable& ranges = query.store.nvtx_ranges;
  std::vector<uint32_t> rows = stacks.rows();
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return ranges.start_ns[a] < ranges.start_ns[b]; });
  source.row_count = rows.size();
  source.fill = [query, stacks = std::move(stacks), rows = std::move(rows)](
                    size_t index, std::vector<Cell>& cells) {
    const Store& store = query.store;
    const size_t row = rows[index];
    const int64_t start = store.nvtx_ranges.start_ns[row];
    const int64_t duration = stacks.End(row) - start;
    const ThreadId thread = store.nvtx_ranges.thread[row];
    const uint32_t parent = stacks.Parent(row);
    const int64_t level = stacks.Level(row);
    const std::string name = RangeName(query, row);
    cells[0] = start;
    cells[1] = stacks.End(row);
    cells[2] = duration;
    cells[3] = stacks.ChildTime(row);
    cells[4] = duration - stacks.ChildTime(row);
    cells[5] = name;
    SetThread(store, thread, cells[6], cells[7]);
    cells[8] = level;
    cells[9] = stacks.ChildCount(row);
    cells[10] = static_cast<int64_t>(stacks.Id(row));
    cells[11] =
        parent == RangeStacks::kNoRange ? Cell() : Cell(static_cast<int64_t>(stacks.Id(parent)));
    cells[12] = stacks.Stack(row);
    cells[13] = std::string(2 * static_cast<size_t>(level), '-') + name;
  };
  return source;
}

void SetThread(const Store& store, ThreadId thread, Cell& pid, Cell& tid) {
  if (thread.IsNone()) {
    pid = tid = Cell();
    return;
  }
  pid = PidCell(store, store.threads.process[thread.row()]);
  tid = int64_t{store.threads.tid[thread.row()]};
}

}  // namespace batchlight::stats
