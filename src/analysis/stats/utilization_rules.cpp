// gpu_gaps and gpu_time_util: when a GPU had nothing or little to do. Time that profiling took is
// not told apart: nsys says that it takes it into account but does not.
#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/stats/cells.h"
#include "analysis/stats/duration_summary.h"
#include "analysis/stats/expert_rule.h"

namespace batchlight::stats {
namespace {

struct Interval {
  int64_t start_ns;
  int64_t end_ns;
  uint32_t context;
};

struct Gpu {
  ProcessId process;
  uint32_t device;
  auto operator<=>(const Gpu&) const = default;
};

template <typename Table>
void AddWork(const Query& query, const RuleOptions& options, const Table& table,
             std::map<Gpu, std::vector<Interval>>& gpus) {
  const Store& store = query.store;
  for (size_t row = 0; row < table.size(); ++row) {
    if (!options.window.Overlaps(table.start_ns[row], table.end_ns[row])) continue;
    const ProcessId process = table.process[row];
    if (options.process >= 0 &&
        (process.IsNone() || store.processes.pid[process.row()] != options.process)) {
      continue;
    }
    if (options.thread >= 0) {
      const ApiCallId call = table.api_call[row];
      if (call.IsNone()) continue;
      const ThreadId thread = store.api_calls.thread[call.row()];
      if (thread.IsNone() || store.threads.tid[thread.row()] != options.thread) continue;
    }
    gpus[{process, table.device[row]}].push_back(
        {table.start_ns[row], table.end_ns[row], table.context[row]});
  }
}

// The work of each GPU of each process, by start.
std::map<Gpu, std::vector<Interval>> WorkByGpu(const Query& query, const RuleOptions& options) {
  std::map<Gpu, std::vector<Interval>> gpus;
  AddWork(query, options, query.store.kernels, gpus);
  AddWork(query, options, query.store.memcpys, gpus);
  AddWork(query, options, query.store.memsets, gpus);
  // nsys does not see graphs that were recorded as a whole.
  if (!query.nsys_compat) AddWork(query, options, query.store.graph_launches, gpus);
  for (auto& [gpu, work] : gpus) {
    std::stable_sort(work.begin(), work.end(),
                     [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
  }
  return gpus;
}

struct Gap {
  int64_t duration;
  int64_t start;
  Gpu gpu;
  uint32_t context;
};

template <typename Row>
void KeepFirst(int64_t limit, std::vector<Row>& rows) {  // below 0: all
  if (limit < 0 || rows.size() <= static_cast<size_t>(limit)) return;
  rows.erase(rows.begin() + limit, rows.end());
}

std::string Plain(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

constexpr std::string_view kWhatToDo =
    "Suggestions:\n"
    "   1. See what the host did meanwhile: `batchlight summary` and the timeline show the\n"
    "      operators, copies and waits of the launching thread.\n"
    "   2. Name the parts of the program with NVTX ranges to tell them apart.";

}  // namespace

Result<RuleResult> FindGpuGaps(const Query& query) {
  ASSIGN_OR_RETURN(const RuleOptions options, ReadRuleOptions(query));
  const auto at_least_ns = static_cast<int64_t>(options.gap_ms * 1e6);
  std::vector<Gap> gaps;
  for (const auto& [gpu, work] : WorkByGpu(query, options)) {
    int64_t busy_until = work.front().end_ns;
    uint32_t context = work.front().context;  // of what ended last
    for (const Interval& next : work) {
      if (next.start_ns - busy_until > at_least_ns) {
        gaps.push_back({next.start_ns - busy_until, busy_until, gpu, context});
      }
      if (next.end_ns > busy_until) {
        busy_until = next.end_ns;
        context = next.context;
      }
    }
  }
  // Beside tables of graphics work, empty or not, nsys takes the first rows, not the longest.
  if (query.nsys_compat && HasAllTables(query.store)) KeepFirst(options.rows, gaps);
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const Gap& a, const Gap& b) { return a.duration > b.duration; });
  KeepFirst(options.rows, gaps);
  ResultTable table;
  table.columns = {IntegerColumn("Row#"), TimeColumn("Duration"),     TimestampColumn("Start"),
                   IntegerColumn("PID"),  IntegerColumn("Device ID"), IntegerColumn("Context ID")};
  for (const Gap& gap : gaps) {
    table.rows.push_back({static_cast<int64_t>(table.rows.size()) + 1, gap.duration, gap.start,
                          PidCell(query.store, gap.gpu.process), int64_t{gap.gpu.device},
                          int64_t{gap.context}});
  }
  RuleResult result{KeepRows(std::move(table)), {}};
  result.advice = gaps.empty() ? "No GPU is idle for more than " + Plain(options.gap_ms) + " ms."
                               : "In these times a GPU has nothing to do for more than " +
                                     Plain(options.gap_ms) + " ms.\n\n" + std::string(kWhatToDo);
  return result;
}

namespace {

struct LowChunk {
  int64_t start;
  int64_t duration;
  double busy_ns;
  Gpu gpu;
  uint32_t context;
  double percent() const { return busy_ns * 100 / static_cast<double>(duration); }
};

// Chunks of equal length from the first to the last work; operations at the same time add up.
std::vector<LowChunk> Chunks(const Gpu& gpu, const std::vector<Interval>& work, int64_t count) {
  const int64_t start = work.front().start_ns;
  int64_t end = start;
  uint32_t context = 0;  // of what ended last
  for (const Interval& interval : work) {
    if (interval.end_ns >= end) context = interval.context;
    end = std::max(end, interval.end_ns);
  }
  if (end <= start) return {};
  const int64_t length = (end - start + count - 1) / count;
  std::vector<LowChunk> chunks;
  for (int64_t at = start; at < end; at += length) {
    chunks.push_back({at, std::min(length, end - at), 0, gpu, context});
  }
  const auto add = [&](const Interval& interval) {
    const int64_t from = std::max(interval.start_ns, start);
    const int64_t until = std::min(interval.end_ns, end);
    for (int64_t i = (from - start) / length; i < static_cast<int64_t>(chunks.size()); ++i) {
      LowChunk& chunk = chunks[static_cast<size_t>(i)];
      const int64_t busy =
          std::min(until, chunk.start + chunk.duration) - std::max(from, chunk.start);
      if (busy <= 0) break;
      chunk.busy_ns += static_cast<double>(busy);
    }
  };
  for (const Interval& interval : work) add(interval);
  return chunks;
}

}  // namespace

Result<RuleResult> FindLowUtilization(const Query& query) {
  ASSIGN_OR_RETURN(const RuleOptions options, ReadRuleOptions(query));
  std::vector<LowChunk> low;
  for (const auto& [gpu, work] : WorkByGpu(query, options)) {
    bool joined = false;
    for (const LowChunk& chunk : Chunks(gpu, work, options.chunks)) {
      if (chunk.percent() >= options.threshold_percent) {
        joined = false;
        continue;
      }
      if (joined) {
        low.back().duration += chunk.duration;
        low.back().busy_ns += chunk.busy_ns;
      } else {
        low.push_back(chunk);
      }
      joined = true;
    }
  }
  if (query.nsys_compat) KeepFirst(options.rows, low);  // nsys does not look for the lowest
  std::stable_sort(low.begin(), low.end(),
                   [](const LowChunk& a, const LowChunk& b) { return a.percent() < b.percent(); });
  KeepFirst(options.rows, low);
  ResultTable table;
  table.columns = {IntegerColumn("Row#"),      {"In-Use", CellType::kReal, Unit::kPercent, 1, {}},
                   TimeColumn("Duration"),     TimestampColumn("Start"),
                   IntegerColumn("PID"),       IntegerColumn("Device ID"),
                   IntegerColumn("Context ID")};
  for (const LowChunk& chunk : low) {
    table.rows.push_back({static_cast<int64_t>(table.rows.size()) + 1,
                          RoundDecimal(chunk.percent()), chunk.duration, chunk.start,
                          PidCell(query.store, chunk.gpu.process), int64_t{chunk.gpu.device},
                          int64_t{chunk.context}});
  }
  RuleResult result{KeepRows(std::move(table)), {}};
  result.advice = low.empty()
                      ? "No GPU works less than " + Plain(options.threshold_percent) +
                            " % of the time for long."
                      : "In these times a GPU works less than " + Plain(options.threshold_percent) +
                            " % of the time.\n\n" + std::string(kWhatToDo);
  return result;
}

}  // namespace batchlight::stats
