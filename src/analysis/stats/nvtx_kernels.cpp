// nvtx_kern_sum: kernels by the ranges they were launched in. Every enclosing range is credited;
// kernels launched outside of ranges have lines of their own with an empty range.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_set>

#include "analysis/stats/duration_summary.h"
#include "analysis/stats/event_names.h"
#include "analysis/stats/range_finder.h"
#include "analysis/stats/range_stacks.h"
#include "analysis/stats/report_functions.h"

namespace batchlight::stats {
namespace {

struct Group {
  void Add(const GpuWork& work) {
    durations.push_back(work.end_ns - work.start_ns);
    if (work.row != last_kernel) ++kernels;
    last_kernel = work.row;
  }

  std::vector<int64_t> durations;
  int64_t kernels = 0;  // one that has two calls is counted once, its time is not
  uint32_t last_kernel = UINT32_MAX;
  std::unordered_set<uint32_t> ranges;
};

struct Line {
  std::string range;
  std::optional<NvtxStyle> style;  // none: in no range
  ThreadId thread;
  StringId kernel;
  int64_t instances;
  int64_t kernels;
  Summary summary;
};

// One for each range name, style, thread and kernel, in the order of the report.
std::vector<Line> Lines(const Query& query) {
  const Store& store = query.store;
  const KernelNaming naming = KernelNamingOf(query);
  const std::vector<GpuWork> work = KernelsWithEveryCall(query);
  RangeNames names(query);
  // Numbers first, names at the end: one number per (range name, style, thread, kernel name).
  std::map<std::tuple<uint32_t, std::optional<NvtxStyle>, ThreadId, StringId>, Group> numbered;
  VisitEnclosingRanges(query, work, [&](size_t i, std::span<const uint32_t> ranges) {
    const ThreadId thread = store.api_calls.thread[work[i].call.row()];
    const StringId kernel = KernelName(store, work[i].row, naming);
    if (ranges.empty()) {
      numbered[{UINT32_MAX, std::nullopt, thread, kernel}].Add(work[i]);
    }
    for (const uint32_t range : ranges) {
      Group& group =
          numbered[{names.Number(range), store.nvtx_ranges.style[range], thread, kernel}];
      group.Add(work[i]);
      group.ranges.insert(range);
    }
  });

  std::vector<Line> lines;
  for (auto& [key, group] : numbered) {
    const auto [range, style, thread, kernel] = key;
    lines.push_back({range == UINT32_MAX ? std::string() : names.Name(range), style, thread, kernel,
                     static_cast<int64_t>(group.ranges.size()), group.kernels,
                     Summarize(group.durations)});
  }
  std::stable_sort(lines.begin(), lines.end(), [&store](const Line& a, const Line& b) {
    if (a.range != b.range) return a.range < b.range;
    if (a.style != b.style) return a.style < b.style;
    if (a.thread != b.thread) return a.thread < b.thread;
    if (a.summary.total != b.summary.total) return a.summary.total > b.summary.total;
    return store.Text(a.kernel) < store.Text(b.kernel);
  });
  return lines;
}

}  // namespace

Result<RowSource> NvtxKernSum(const Query& query) {
  const Store& store = query.store;
  ResultTable table;
  table.columns = {TextColumn("NVTX Range"), TextColumn("Style"),        IntegerColumn("PID"),
                   IntegerColumn("TID"),     IntegerColumn("NVTX Inst"), IntegerColumn("Kern Inst"),
                   TimeColumn("Total Time"), MeanTimeColumn("Avg"),      MeanTimeColumn("Med"),
                   TimeColumn("Min"),        TimeColumn("Max"),          MeanTimeColumn("StdDev"),
                   TextColumn("Kernel Name")};
  for (Line& line : Lines(query)) {
    Cell pid;
    Cell tid;
    SetThread(store, line.thread, pid, tid);
    const bool unranged = !line.style.has_value();
    const Summary& s = line.summary;
    table.rows.push_back({unranged ? Cell() : Cell(std::move(line.range)),
                          unranged ? Cell() : Cell(std::string(ShortName(*line.style))), pid, tid,
                          line.instances, line.kernels, s.total, s.mean, s.median, s.min, s.max,
                          s.deviation, std::string(store.Text(line.kernel))});
  }
  return KeepRows(std::move(table));
}

}  // namespace batchlight::stats
