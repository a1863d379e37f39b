// nvtx_sum, nvtx_pushpop_sum, nvtx_startend_sum.
#include "analysis/stats/duration_summary.h"
#include "analysis/stats/event_names.h"
#include "analysis/stats/report_functions.h"

namespace batchlight::stats {
namespace {

enum class Styles { kBoth, kPushPop, kStartEnd };

Result<RowSource> SummarizeRanges(const Query& query, Styles styles) {
  const NvtxRangesTable& ranges = query.store.nvtx_ranges;
  const int64_t latest = LatestRangeTime(query.store);
  RangeNames names(query.store);
  GroupNumbers groups;
  GroupedValues values;
  for (size_t row = 0; row < ranges.size(); ++row) {
    const bool push_pop = ranges.style[row] == static_cast<uint8_t>(NvtxStyle::kPushPop);
    if (styles != Styles::kBoth && push_pop != (styles == Styles::kPushPop)) continue;
    const int64_t end = ranges.end_ns[row] == kOpenEnd ? latest : ranges.end_ns[row];
    if (!query.Keep(ranges.start_ns[row], end)) continue;
    values.Add(groups.Of(uint64_t{names.Number(row)} << 1 | (push_pop ? 0 : 1)),
               end - ranges.start_ns[row]);
  }
  const std::vector<Summary> summaries = values.Summarize();

  std::vector<SummaryGroup> rows;
  for (uint32_t group = 0; group < groups.size(); ++group) {
    const uint64_t key = groups.keys()[group];
    SummaryGroup& row = rows.emplace_back();
    row.summary = summaries[group];
    if (styles == Styles::kBoth) row.labels.emplace_back((key & 1) == 0 ? "PushPop" : "StartEnd");
    row.labels.emplace_back(names.Name(static_cast<uint32_t>(key >> 1)));
  }
  ResultTable table;
  table.columns = SummaryColumns("Instances");
  if (styles == Styles::kBoth) table.columns.push_back(TextColumn("Style"));
  table.columns.push_back(TextColumn("Range"));
  table.rows = RowsByTotal(std::move(rows));
  return KeepRows(std::move(table));
}

}  // namespace

Result<RowSource> NvtxSum(const Query& query) { return SummarizeRanges(query, Styles::kBoth); }
Result<RowSource> NvtxPushPopSum(const Query& query) {
  return SummarizeRanges(query, Styles::kPushPop);
}
Result<RowSource> NvtxStartEndSum(const Query& query) {
  return SummarizeRanges(query, Styles::kStartEnd);
}

}  // namespace batchlight::stats
