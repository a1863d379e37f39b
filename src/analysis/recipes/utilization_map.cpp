#include "analysis/recipes/utilization_map.h"

#include <algorithm>
#include <utility>

#include "analysis/cuda/kernel_class.h"
#include "analysis/stats/duration_summary.h"

namespace batchlight::recipes {
namespace {

using stats::Query;

// Time in both; they are disjoint and in order each.
std::vector<TimeSpan> Both(const std::vector<TimeSpan>& a, const std::vector<TimeSpan>& b) {
  std::vector<TimeSpan> both;
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const TimeSpan span{std::max(a[i].start_ns, b[k].start_ns), std::min(a[i].end_ns, b[k].end_ns)};
    if (span.start_ns < span.end_ns) both.push_back(span);
    if (a[i].end_ns < b[k].end_ns) {
      ++i;
    } else {
      ++k;
    }
  }
  return both;
}

// keep(row): whether a kernel of the rank counts.
template <typename Keep>
std::vector<TimeSpan> KernelSpans(const Query& query, const Keep& keep) {
  const KernelsTable& kernels = query.store.kernels;
  std::vector<TimeSpan> spans;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!query.Of(kernels.process[row]) || !keep(row)) continue;
    spans.push_back({kernels.start_ns[row], kernels.end_ns[row]});
  }
  return UnionOf(std::move(spans));
}

}  // namespace

Activity MpiSpans(const Query& query) {
  Activity activity;
  activity.kernels = KernelSpans(query, [](size_t) { return true; });
  const MpiEventsTable& events = query.store.mpi_events;
  std::vector<TimeSpan> calls;
  for (size_t row = 0; row < events.size(); ++row) {
    if (!query.processes.empty() && !query.Of(query.store.ProcessOf(events.thread[row]))) continue;
    calls.push_back({events.start_ns[row], events.end_ns[row]});
  }
  activity.communication = UnionOf(std::move(calls));
  return activity;
}

Activity NcclSpans(const Query& query) {
  const auto is_nccl = [&](size_t row) {
    return IsNcclKernel(query.store.Text(query.store.kernels.short_name[row]));
  };
  return {KernelSpans(query, [&](size_t row) { return !is_nccl(row); }),
          KernelSpans(query, is_nccl)};
}

ResultTable UtilizationMap(const Activity& activity, size_t bins) {
  const auto share = [](const char* name) {
    return ResultColumn{name, CellType::kReal, Unit::kPercent, 1, {}};
  };
  ResultTable table;
  table.columns = {stats::Keyed("start", stats::TimestampColumn("Start")),
                   stats::TimestampColumn("End"), stats::Keyed("in_use", share("Kernels")),
                   share("Communication"), share("Overlap")};
  const std::vector<TimeSpan> any = UniteSpans(activity.kernels, activity.communication);
  if (any.empty()) return table;
  const std::vector<TimeSpan> both = Both(activity.kernels, activity.communication);
  const int64_t first = any.front().start_ns;
  const int64_t last = any.back().end_ns;
  const auto count = static_cast<int64_t>(bins);
  const int64_t length = std::max<int64_t>(1, (last - first + count - 1) / count);
  for (int64_t start = first; start < last; start += length) {
    const int64_t end = std::min(last, start + length);
    const auto of = [&](const std::vector<TimeSpan>& spans) {
      return stats::RoundDecimal(static_cast<double>(NsInside(spans, start, end)) * 100 /
                                 static_cast<double>(end - start));
    };
    table.rows.push_back(
        CellRow(start, end, of(activity.kernels), of(activity.communication), of(both)));
  }
  return table;
}

}  // namespace batchlight::recipes
