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
  RangeNames names(query);
  GroupNumbers groups;
  GroupedValues values;
  for (size_t row = 0; row < ranges.size(); ++row) {
    const NvtxStyle style = ranges.style[row];
    const bool push_pop = style == NvtxStyle::kPushPop;
    if (styles != Styles::kBoth && push_pop != (styles == Styles::kPushPop)) continue;
    const int64_t end = ranges.end_ns[row] == kOpenEnd ? latest : ranges.end_ns[row];
    if (!query.Keep(ranges.start_ns[row], end)) continue;
    values.Add(groups.Of(uint64_t{names.Number(row)} << 1 | Number(style)),
               end - ranges.start_ns[row]);
  }
  std::vector<ResultColumn> labels;
  const bool with_style = styles == Styles::kBoth;
  if (with_style) labels.push_back(TextColumn("Style"));
  labels.push_back(TextColumn("Range"));
  return SummaryRows("Instances", std::move(labels), values.Summarize(),
                     [names = std::move(names), keys = groups.keys(), with_style](
                         size_t group, std::vector<Cell>& cells) {
                       const uint64_t key = keys[group];
                       cells.back() = names.Name(static_cast<uint32_t>(key >> 1));
                       if (with_style) cells[8] = std::string(ShortName(NvtxStyle(key & 1)));
                     });
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
