// The questions of nsys's recipes that make sense for the ranks of one machine, as reports: how
// kernel times are distributed, how even a kernel or range is over the run, when the GPU was busy,
// and what NCCL hides. Columns that report/charts/picture.h draws have keys.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/cuda/kernel_class.h"
#include "analysis/numbers/time_span.h"
#include "analysis/stats/cells.h"
#include "analysis/stats/duration_summary.h"
#include "analysis/stats/event_names.h"
#include "analysis/stats/range_choice.h"
#include "analysis/stats/range_finder.h"
#include "analysis/stats/range_stacks.h"
#include "analysis/stats/report_arguments.h"
#include "analysis/stats/report_functions.h"
#include "base/nearest.h"

namespace batchlight::stats {
namespace {

constexpr std::string_view kNcclDomain = "NCCL";

bool KeepsKernel(const Query& query, size_t row) {
  const KernelsTable& kernels = query.store.kernels;
  return query.Of(kernels.process[row]) && query.Keep(kernels.start_ns[row], kernels.end_ns[row]);
}

bool KeepsRange(const Query& query, size_t row, int64_t end_ns) {
  const NvtxRangesTable& ranges = query.store.nvtx_ranges;
  return query.Keep(ranges.start_ns[row], end_ns) &&
         (query.processes.empty() || query.Of(query.store.ProcessOf(ranges.thread[row])));
}

// One line per instance, in order: when it started, how long it took, how far from the one before.
RowSource PaceTable(std::vector<TimeSpan> instances, const std::string& what) {
  std::stable_sort(instances.begin(), instances.end(),
                   [](const TimeSpan& a, const TimeSpan& b) { return a.start_ns < b.start_ns; });
  ResultTable table;
  table.columns = {Keyed("instance", IntegerColumn("Instance")),
                   TimestampColumn("Start"),
                   Keyed("duration", TimeColumn("Duration")),
                   TimeColumn("Since Previous Start"),
                   TimeColumn("Since Previous End"),
                   TextColumn("Name")};
  for (size_t i = 0; i < instances.size(); ++i) {
    const TimeSpan& now = instances[i];
    Cell since_start;
    Cell since_end;
    if (i > 0) {
      since_start = now.start_ns - instances[i - 1].start_ns;
      since_end = now.start_ns - instances[i - 1].end_ns;
    }
    table.rows.push_back(CellRow(static_cast<int64_t>(i), now.start_ns, now.end_ns - now.start_ns,
                                 since_start, since_end, what));
  }
  return KeepRows(std::move(table));
}

// The range asked for with range=, else the one with the largest total time.
Result<std::string> ChosenRange(const Query& query, RangeNames& names) {
  const NvtxRangesTable& ranges = query.store.nvtx_ranges;
  std::map<uint32_t, int64_t> totals;
  const int64_t latest = LatestRangeTime(query.store);
  for (size_t row = 0; row < ranges.size(); ++row) {
    const int64_t end = ranges.end_ns[row] == kOpenEnd ? latest : ranges.end_ns[row];
    if (KeepsRange(query, row, end)) {
      totals[names.Number(row)] += end - ranges.start_ns[row];
    }
  }
  if (const auto text = ArgumentValue(query.args, "range")) {
    const size_t at = text->rfind('@');
    const std::string_view name = text->substr(0, at);
    const std::string_view domain = at == text->npos ? "" : text->substr(at + 1);
    const std::string wanted = std::string(domain) + ':' + std::string(name);
    for (const auto& [number, total] : totals) {
      if (names.Name(number) == wanted) return wanted;
    }
    return UsageError("range=: there is no range \"" + std::string(*text) + "\"" +
                      NearestRanges(query.store, name));
  }
  const auto largest =
      std::max_element(totals.begin(), totals.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return largest == totals.end() ? std::string() : names.Name(largest->first);
}

bool IsNcclRange(const Store& store, size_t row) {
  const NvtxDomainId domain = store.nvtx_ranges.domain[row];
  return !domain.IsNone() && store.Text(store.nvtx_domains.name[domain.row()]) == kNcclDomain;
}

}  // namespace

Result<RowSource> CudaGpuKernHist(const Query& query) {
  // Steps of 1, 2, 5 times a power of ten: the range is wide, the edges are round.
  const int64_t most_bins = ArgumentInteger(query.args, "bins", 100);
  const KernelsTable& kernels = query.store.kernels;
  const auto wanted = ArgumentValue(query.args, "kernel");
  const KernelNaming naming = KernelNamingOf(query);
  std::map<int64_t, std::pair<int64_t, int64_t>> bins;  // lower edge: count, time
  int64_t total = 0;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!KeepsKernel(query, row)) continue;
    if (wanted && query.store.Text(KernelName(query.store, row, naming)) != *wanted) continue;
    const int64_t duration = kernels.end_ns[row] - kernels.start_ns[row];
    int64_t edge = 1;
    while (edge <= std::numeric_limits<int64_t>::max() / 10 && edge * 10 <= duration) edge *= 10;
    edge *= duration >= edge * 5 ? 5 : duration >= edge * 2 ? 2 : 1;
    auto& [count, time] = bins[duration == 0 ? 0 : edge];
    ++count;
    time += duration;
    total += duration;
  }
  ResultTable table;
  table.columns = {Keyed("from", TimeColumn("From")),
                   TimeColumn("To"),
                   Keyed("instances", IntegerColumn("Instances")),
                   TimeColumn("Total Time"),
                   {"Time", CellType::kReal, Unit::kPercent, 1, {}}};
  for (const auto& [edge, bin] : bins) {
    if (table.rows.size() == static_cast<size_t>(most_bins)) break;
    int64_t power = edge;
    while (power >= 10) power /= 10;
    const int64_t to = edge == 0 ? 1 : power == 2 ? edge / 2 * 5 : edge * 2;
    table.rows.push_back(
        CellRow(edge, to, bin.first, bin.second,
                PercentCell(static_cast<double>(bin.second), static_cast<double>(total))));
  }
  return KeepRows(std::move(table));
}

Result<RowSource> CudaGpuKernPace(const Query& query) {
  const KernelsTable& kernels = query.store.kernels;
  const KernelNaming naming = KernelNamingOf(query);
  std::map<StringId, std::vector<TimeSpan>> by_name;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!KeepsKernel(query, row)) continue;
    by_name[KernelName(query.store, row, naming)].push_back(
        {kernels.start_ns[row], kernels.end_ns[row]});
  }
  const auto wanted = ArgumentValue(query.args, "kernel");
  int64_t largest = -1;
  StringId chosen;
  for (const auto& [name, instances] : by_name) {
    if (wanted) {
      if (query.store.Text(name) == *wanted) chosen = name;
      continue;
    }
    int64_t total = 0;
    for (const TimeSpan& i : instances) total += i.end_ns - i.start_ns;
    if (total > largest) {
      largest = total;
      chosen = name;
    }
  }
  if (chosen.IsNone() && wanted) {
    std::vector<std::string_view> known;
    for (const auto& [name, instances] : by_name) known.push_back(query.store.Text(name));
    return UsageError("kernel=: there is no kernel \"" + std::string(*wanted) + "\"" +
                      DidYouMean(NearestFew(*wanted, known)));
  }
  return PaceTable(by_name[chosen], std::string(query.store.Text(chosen)));
}

Result<RowSource> NvtxPace(const Query& query) {
  const NvtxRangesTable& ranges = query.store.nvtx_ranges;
  RangeNames names(query);
  ASSIGN_OR_RETURN(const std::string chosen, ChosenRange(query, names));
  const int64_t latest = LatestRangeTime(query.store);
  std::vector<TimeSpan> instances;
  for (size_t row = 0; row < ranges.size(); ++row) {
    const int64_t end = ranges.end_ns[row] == kOpenEnd ? latest : ranges.end_ns[row];
    if (!KeepsRange(query, row, end) || names.Name(names.Number(row)) != chosen) continue;
    instances.push_back({ranges.start_ns[row], end});
  }
  return PaceTable(std::move(instances), chosen);
}

Result<RowSource> NvtxGpuProjPace(const Query& query) {
  RangeNames names(query);
  ASSIGN_OR_RETURN(const std::string chosen, ChosenRange(query, names));
  const std::vector<GpuWork> work = LaunchedWork(query, false);
  std::map<uint32_t, TimeSpan> projected;
  VisitEnclosingRanges(query, work, [&](size_t i, std::span<const uint32_t> enclosing) {
    for (const uint32_t range : enclosing) {
      if (names.Name(names.Number(range)) != chosen) continue;
      const auto [place, added] =
          projected.try_emplace(range, TimeSpan{work[i].start_ns, work[i].end_ns});
      place->second.start_ns = std::min(place->second.start_ns, work[i].start_ns);
      place->second.end_ns = std::max(place->second.end_ns, work[i].end_ns);
    }
  });
  std::vector<TimeSpan> instances;
  for (const auto& [range, instance] : projected) instances.push_back(instance);
  return PaceTable(std::move(instances), chosen);
}

Result<RowSource> CudaGpuTimeUtilMap(const Query& query) {
  const int64_t bins = ArgumentInteger(query.args, "bins", 100);
  const KernelsTable& kernels = query.store.kernels;
  std::map<std::pair<ProcessId, uint32_t>, std::vector<TimeSpan>> gpus;
  int64_t first = kOpenEnd;
  int64_t last = INT64_MIN;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!KeepsKernel(query, row)) continue;
    gpus[{kernels.process[row], kernels.device[row]}].push_back(
        {kernels.start_ns[row], kernels.end_ns[row]});
    first = std::min(first, kernels.start_ns[row]);
    last = std::max(last, kernels.end_ns[row]);
  }
  ResultTable table;
  table.columns = {Keyed("start", TimestampColumn("Start")), TimestampColumn("End"),
                   Keyed("pid", IntegerColumn("PID")), Keyed("device", IntegerColumn("Device ID")),
                   Keyed("in_use", {"In-Use", CellType::kReal, Unit::kPercent, 1, {}})};
  const int64_t length = gpus.empty() ? 1 : std::max<int64_t>(1, (last - first + bins - 1) / bins);
  for (auto& [gpu, instances] : gpus) {
    const std::vector<TimeSpan> busy = UnionOf(std::move(instances));
    for (int64_t start = first; start < last; start += length) {
      const int64_t end = std::min(last, start + length);
      table.rows.push_back(CellRow(start, end, PidCell(query.store, gpu.first), int64_t{gpu.second},
                                   PercentCell(static_cast<double>(NsInside(busy, start, end)),
                                               static_cast<double>(end - start))));
    }
  }
  return KeepRows(std::move(table));
}

Result<RowSource> NcclSum(const Query& query) {
  const NvtxRangesTable& ranges = query.store.nvtx_ranges;
  const int64_t latest = LatestRangeTime(query.store);
  GroupNumbers groups;
  GroupedValues values;
  for (size_t row = 0; row < ranges.size(); ++row) {
    if (!IsNcclRange(query.store, row)) continue;
    const int64_t end = ranges.end_ns[row] == kOpenEnd ? latest : ranges.end_ns[row];
    if (!KeepsRange(query, row, end)) continue;
    values.Add(groups.Of(ranges.message[row].value), end - ranges.start_ns[row]);
  }
  const std::vector<Summary> summaries = values.Summarize();
  std::vector<SummaryGroup> rows;
  for (size_t group = 0; group < summaries.size(); ++group) {
    const StringId name{static_cast<uint32_t>(groups.keys()[group])};
    rows.push_back({summaries[group], {std::string(query.store.Text(name))}});
  }
  ResultTable table;
  table.columns = SummaryColumns("Instances");
  table.columns.push_back(TextColumn("Name"));
  table.rows = RowsByTotal(std::move(rows));
  return KeepRows(std::move(table));
}

Result<RowSource> NcclGpuProjSum(const Query& query) {
  const std::vector<GpuWork> work = LaunchedWork(query, false);
  std::map<uint32_t, TimeSpan> projected;
  std::map<uint32_t, int64_t> operations;
  VisitEnclosingRanges(query, work, [&](size_t i, std::span<const uint32_t> enclosing) {
    for (const uint32_t range : enclosing) {
      if (!IsNcclRange(query.store, range)) continue;
      const auto [place, added] =
          projected.try_emplace(range, TimeSpan{work[i].start_ns, work[i].end_ns});
      place->second.start_ns = std::min(place->second.start_ns, work[i].start_ns);
      place->second.end_ns = std::max(place->second.end_ns, work[i].end_ns);
      ++operations[range];
    }
  });
  std::map<std::string, std::pair<std::vector<int64_t>, int64_t>> groups;
  for (const auto& [range, instance] : projected) {
    auto& [durations, count] =
        groups[std::string(query.store.Text(query.store.nvtx_ranges.message[range]))];
    durations.push_back(instance.end_ns - instance.start_ns);
    count += operations[range];
  }
  std::vector<SummaryGroup> rows;
  for (auto& [name, group] : groups) {
    rows.push_back({Summarize(group.first), {group.second, name}});
  }
  ResultTable table;
  table.columns = SummaryColumns("Instances");
  table.columns.push_back(IntegerColumn("GPU Ops"));
  table.columns.push_back(TextColumn("Name"));
  table.rows = RowsByTotal(std::move(rows));
  return KeepRows(std::move(table));
}

Result<RowSource> NcclGpuOverlapTrace(const Query& query) {
  const Store& store = query.store;
  const KernelsTable& kernels = store.kernels;
  std::map<std::pair<ProcessId, uint32_t>, std::vector<TimeSpan>> compute;
  std::vector<uint32_t> communication;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!KeepsKernel(query, row)) continue;
    if (IsNcclKernel(store.Text(KernelName(store, row, KernelNaming::kBase)))) {
      communication.push_back(static_cast<uint32_t>(row));
    } else {
      compute[{kernels.process[row], kernels.device[row]}].push_back(
          {kernels.start_ns[row], kernels.end_ns[row]});
    }
  }
  for (auto& [gpu, instances] : compute) instances = UnionOf(std::move(instances));
  ResultTable table;
  table.columns = {Keyed("start", TimestampColumn("Start")),
                   TimeColumn("Duration"),
                   TimeColumn("Overlapped"),
                   Keyed("exposed", TimeColumn("Exposed")),
                   {"Overlap", CellType::kReal, Unit::kPercent, 1, {}},
                   IntegerColumn("PID"),
                   Keyed("device", IntegerColumn("Device ID")),
                   IntegerColumn("Stream ID"),
                   TextColumn("Name")};
  for (const uint32_t row : communication) {
    const int64_t start = kernels.start_ns[row];
    const int64_t end = kernels.end_ns[row];
    const ProcessId process = kernels.process[row];
    const int64_t overlapped = NsInside(compute[{process, kernels.device[row]}], start, end);
    table.rows.push_back(
        CellRow(start, end - start, overlapped, end - start - overlapped,
                PercentCell(static_cast<double>(overlapped), static_cast<double>(end - start)),
                PidCell(store, process), int64_t{kernels.device[row]}, int64_t{kernels.stream[row]},
                std::string(store.Text(KernelName(store, row, KernelNamingOf(query))))));
  }
  return KeepRows(std::move(table));
}

}  // namespace batchlight::stats
