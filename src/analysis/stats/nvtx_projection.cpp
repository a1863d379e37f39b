// nvtx_gpu_proj_sum and nvtx_gpu_proj_trace: ranges of the CPU shown where their work ran on the
// GPU, from the start of the first operation launched inside to the end of the last.
#include <algorithm>
#include <map>

#include "analysis/stats/duration_summary.h"
#include "analysis/stats/event_names.h"
#include "analysis/stats/range_finder.h"
#include "analysis/stats/range_stacks.h"
#include "analysis/stats/report_functions.h"

namespace batchlight::stats {
namespace {

struct Projection {
  int64_t start_ns = kOpenEnd;
  int64_t end_ns = INT64_MIN;
  int64_t operations = 0;

  void Add(const GpuWork& work, int64_t count) {
    start_ns = std::min(start_ns, work.start_ns);
    end_ns = std::max(end_ns, work.end_ns);
    operations += count;
  }
};

// By row of nvtx_ranges. nsys knows no graph launches here, and counts what one call launched (the
// nodes of a graph) as one operation.
std::vector<Projection> Project(const Query& query) {
  std::vector<Projection> projections(query.store.nvtx_ranges.size());
  const std::vector<GpuWork> work = LaunchedWork(query, false);
  ApiCallId last_call;
  VisitEnclosingRanges(query, work, [&](size_t i, std::span<const uint32_t> ranges) {
    if (query.nsys_compat && work[i].kind == GpuWork::Kind::kGraph) return;
    const bool same_call = query.nsys_compat && work[i].call == last_call;
    last_call = work[i].call;
    for (const uint32_t range : ranges) projections[range].Add(work[i], same_call ? 0 : 1);
  });
  return projections;
}

// Of each range, the ranges directly inside that have work as well. By row of nvtx_ranges.
std::vector<uint32_t> ProjectedChildren(const std::vector<Projection>& projections,
                                        const RangeStacks& stacks) {
  std::vector<uint32_t> children(projections.size());
  for (const uint32_t row : stacks.rows()) {
    const uint32_t parent = stacks.Parent(row);
    if (parent != RangeStacks::kNoRange && projections[row].operations > 0) ++children[parent];
  }
  return children;
}

}  // namespace

Result<RowSource> NvtxGpuProjSum(const Query& query) {
  const NvtxRangesTable& ranges = query.store.nvtx_ranges;
  const std::vector<Projection> projections = Project(query);
  const RangeStacks stacks(query, false);
  const std::vector<uint32_t> children = ProjectedChildren(projections, stacks);
  struct Group {
    std::vector<int64_t> projected;
    int64_t range_time = 0;
    int64_t operations = 0;
    int64_t levels = 0;
    int64_t children = 0;
  };
  RangeNames names(query);
  std::map<std::pair<std::string, NvtxStyle>, Group> groups;
  for (const uint32_t row : stacks.rows()) {
    const Projection& projection = projections[row];
    if (projection.operations == 0) continue;
    Group& group = groups[{names.Name(names.Number(row)), ranges.style[row]}];
    group.projected.push_back(projection.end_ns - projection.start_ns);
    group.range_time += stacks.End(row) - ranges.start_ns[row];
    group.operations += projection.operations;
    group.levels += stacks.Level(row);
    group.children += children[row];
  }

  ResultTable table;
  table.columns = {TextColumn("Range"),
                   TextColumn("Style"),
                   TimeColumn("Total Proj Time"),
                   TimeColumn("Total Range Time"),
                   IntegerColumn("Range Instances"),
                   MeanTimeColumn("Proj Avg"),
                   MeanTimeColumn("Proj Med"),
                   TimeColumn("Proj Min"),
                   TimeColumn("Proj Max"),
                   MeanTimeColumn("Proj StdDev"),
                   IntegerColumn("Total GPU Ops"),
                   RealColumn("Avg GPU Ops"),
                   RealColumn("Avg Range Lvl"),
                   RealColumn("Avg Num Child")};
  for (auto& [key, group] : groups) {
    const Summary summary = Summarize(group.projected);
    const auto mean = [&](int64_t sum) {
      return RoundDecimal(static_cast<double>(sum) / static_cast<double>(summary.count));
    };
    table.rows.push_back({key.first, std::string(ShortName(key.second)), summary.total,
                          group.range_time, summary.count, summary.mean, summary.median,
                          summary.min, summary.max, summary.deviation, group.operations,
                          mean(group.operations), mean(group.levels), mean(group.children)});
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return std::get<int64_t>(a[2]) > std::get<int64_t>(b[2]);
  });
  return KeepRows(std::move(table));
}

Result<RowSource> NvtxGpuProjTrace(const Query& query) {
  RowSource source;
  source.columns = {TextColumn("Name"),
                    TimestampColumn("Projected Start"),
                    TimeColumn("Projected Duration"),
                    TimestampColumn("Orig Start"),
                    TimeColumn("Orig Duration"),
                    TextColumn("Style"),
                    IntegerColumn("PID"),
                    IntegerColumn("TID"),
                    IntegerColumn("NumGPUOps"),
                    IntegerColumn("Lvl"),
                    IntegerColumn("NumChild"),
                    IntegerColumn("RangeId"),
                    IntegerColumn("ParentId"),
                    TextColumn("RangeStack")};
  const std::vector<Projection> projections = Project(query);
  RangeStacks stacks(query, false);
  std::vector<uint32_t> children = ProjectedChildren(projections, stacks);
  struct Line {
    Projection projection;
    uint32_t range;
  };
  std::vector<Line> lines;
  for (const uint32_t row : stacks.rows()) {  // by id, which is by start in what nsys exports
    const Projection& projection = projections[row];
    if (projection.operations == 0) continue;
    lines.push_back({projection, row});
  }
  source.row_count = lines.size();
  source.fill = [query, stacks = std::move(stacks), children = std::move(children),
                 lines = std::move(lines)](size_t index, std::vector<Cell>& cells) {
    const Store& store = query.store;
    const Line& line = lines[index];
    std::fill(cells.begin(), cells.end(), Cell());
    cells[1] = line.projection.start_ns;
    cells[2] = line.projection.end_ns - line.projection.start_ns;
    const size_t row = line.range;
    SetThread(store, store.nvtx_ranges.thread[row], cells[6], cells[7]);
    cells[8] = line.projection.operations;
    const uint32_t parent = stacks.Parent(row);
    cells[0] = RangeName(query, row);
    cells[3] = store.nvtx_ranges.start_ns[row];
    cells[4] = stacks.End(row) - store.nvtx_ranges.start_ns[row];
    cells[5] = std::string(ShortName(store.nvtx_ranges.style[row]));
    cells[9] = stacks.Level(row);
    cells[10] = int64_t{children[row]};
    cells[11] = static_cast<int64_t>(stacks.Id(row));
    if (parent != RangeStacks::kNoRange) cells[12] = static_cast<int64_t>(stacks.Id(parent));
    cells[13] = stacks.Stack(row);
  };
  return source;
}

}  // namespace batchlight::stats
