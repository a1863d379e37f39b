#include "analysis/recipes/event_groups.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "analysis/numbers/time_span.h"
#include "analysis/stats/event_names.h"
#include "analysis/stats/range_finder.h"

namespace batchlight::recipes {
namespace {

using stats::Query;

constexpr std::string_view kNcclDomain = "NCCL";

// add(name, value) for the rows of a table that belong to the rank.
template <typename Table, typename ProcessOfRow, typename Add>
void VisitRows(const Query& query, const Table& table, const ProcessOfRow& process_of,
               const Add& add) {
  for (size_t row = 0; row < table.size(); ++row) {
    if (!query.processes.empty() && !query.Of(process_of(row))) continue;
    const int64_t end = table.end_ns[row] == kOpenEnd ? query.store.duration_ns : table.end_ns[row];
    add(row, std::max<int64_t>(0, end - table.start_ns[row]));
  }
}

template <typename Table, typename Add>
void VisitThreadRows(const Query& query, const Table& table, const Add& add) {
  VisitRows(
      query, table, [&](size_t row) { return query.store.ProcessOf(table.thread[row]); }, add);
}

template <typename Table, typename Add>
void VisitGpuRows(const Query& query, const Table& table, const Add& add) {
  VisitRows(
      query, table, [&](size_t row) { return table.process[row]; }, add);
}

bool IsNccl(const Query& query, size_t range) {
  const NvtxDomainId domain = query.store.nvtx_ranges.domain[range];
  return !domain.IsNone() &&
         query.store.Text(query.store.nvtx_domains.name[domain.row()]) == kNcclDomain;
}

// Names of the ranges, each made once.
class NamesOfRanges {
 public:
  explicit NamesOfRanges(const Query& query) : names_(query) {}
  const std::string& Of(size_t range) {
    std::string& name = made_[names_.Number(range)];
    if (name.empty()) name = names_.Name(names_.Number(range));
    return name;
  }

 private:
  stats::RangeNames names_;
  std::map<uint32_t, std::string> made_;
};

enum class Which { kAll, kNccl };

Groups RangesOf(const Query& query, Which which) {
  const NvtxRangesTable& ranges = query.store.nvtx_ranges;
  const int64_t latest = stats::LatestRangeTime(query.store);
  NamesOfRanges names(query);
  Groups groups;
  VisitThreadRows(query, ranges, [&](size_t row, int64_t) {
    if (which == Which::kNccl && !IsNccl(query, row)) return;
    const int64_t end = ranges.end_ns[row] == kOpenEnd ? latest : ranges.end_ns[row];
    groups[names.Of(row)].push_back(end - ranges.start_ns[row]);
  });
  return groups;
}

Groups Project(const Query& query, Which which) {
  const std::vector<stats::GpuWork> work = stats::LaunchedWork(query, false);
  std::map<uint32_t, TimeSpan> projected;  // by range
  stats::VisitEnclosingRanges(query, work, [&](size_t i, std::span<const uint32_t> enclosing) {
    for (const uint32_t range : enclosing) {
      const ThreadId thread = query.store.nvtx_ranges.thread[range];
      if (!query.processes.empty() && !query.Of(query.store.ProcessOf(thread))) continue;
      if (which == Which::kNccl && !IsNccl(query, range)) continue;
      const auto [at, added] =
          projected.try_emplace(range, TimeSpan{work[i].start_ns, work[i].end_ns});
      at->second.start_ns = std::min(at->second.start_ns, work[i].start_ns);
      at->second.end_ns = std::max(at->second.end_ns, work[i].end_ns);
    }
  });
  NamesOfRanges names(query);
  Groups groups;
  for (const auto& [range, span] : projected) {
    groups[names.Of(range)].push_back(span.end_ns - span.start_ns);
  }
  return groups;
}

Groups MemoryOperations(const Query& query, bool by_size) {
  const MemcpysTable& copies = query.store.memcpys;
  const MemsetsTable& sets = query.store.memsets;
  Groups groups;
  VisitGpuRows(query, copies, [&](size_t row, int64_t ns) {
    groups[stats::CopyName(copies.copy_kind[row])].push_back(
        by_size ? static_cast<int64_t>(copies.bytes[row]) : ns);
  });
  VisitGpuRows(query, sets, [&](size_t row, int64_t ns) {
    groups[std::string(stats::kMemsetName)].push_back(
        by_size ? static_cast<int64_t>(sets.bytes[row]) : ns);
  });
  return groups;
}

}  // namespace

Groups ApiCalls(const Query& query) {
  const ApiCallsTable& calls = query.store.api_calls;
  Groups groups;
  VisitThreadRows(query, calls, [&](size_t row, int64_t ns) {
    groups[std::string(stats::ApiName(query.store.Text(calls.name[row])))].push_back(ns);
  });
  return groups;
}

Groups Kernels(const Query& query) {
  const stats::KernelNaming naming = stats::KernelNamingOf(query);
  std::map<StringId, std::vector<int64_t>> by_name;
  VisitGpuRows(query, query.store.kernels, [&](size_t row, int64_t ns) {
    by_name[stats::KernelName(query.store, row, naming)].push_back(ns);
  });
  Groups groups;
  for (auto& [name, values] : by_name) {
    std::vector<int64_t>& all = groups[std::string(query.store.Text(name))];
    all.insert(all.end(), values.begin(), values.end());
  }
  return groups;
}

Groups MemoryTimes(const Query& query) { return MemoryOperations(query, false); }
Groups MemorySizes(const Query& query) { return MemoryOperations(query, true); }

Groups MpiCalls(const Query& query) {
  const MpiEventsTable& events = query.store.mpi_events;
  Groups groups;
  VisitThreadRows(query, events, [&](size_t row, int64_t ns) {
    groups[std::string(query.store.Text(events.name[row]))].push_back(ns);
  });
  return groups;
}

Groups OsCalls(const Query& query) {
  const OsCallsTable& calls = query.store.os_calls;
  Groups groups;
  VisitThreadRows(query, calls, [&](size_t row, int64_t ns) {
    if (calls.event_class[row] != EventClass::kOsRuntime) return;
    groups[std::string(query.store.Text(calls.name[row]))].push_back(ns);
  });
  return groups;
}

Groups NetworkValues(const Query& query) {
  const NetworkSamplesTable& samples = query.store.network_samples;
  Groups groups;
  for (size_t row = 0; row < samples.size(); ++row) {
    std::string name(query.store.Text(samples.metric[row]));
    const std::string_view device = query.store.Text(samples.device[row]);
    if (!device.empty()) name += " of " + std::string(device);
    groups[std::move(name)].push_back(samples.value[row]);
  }
  return groups;
}

Groups Ranges(const Query& query) { return RangesOf(query, Which::kAll); }
Groups NcclCalls(const Query& query) { return RangesOf(query, Which::kNccl); }
Groups RangeProjections(const Query& query) { return Project(query, Which::kAll); }
Groups NcclProjections(const Query& query) { return Project(query, Which::kNccl); }

}  // namespace batchlight::recipes
