#include "cli/reading/event_filter.h"

#include <algorithm>

#include "analysis/stats/range_choice.h"
#include "base/duration_text.h"

namespace batchlight::cli {
namespace {

// Moves the rows that are not accepted to a time before every window.
template <typename Table, typename Accept>
void Hide(Table& table, const Accept& accept) {
  for (size_t row = 0; row < table.size(); ++row) {
    if (!accept(row)) table.start_ns[row] = table.end_ns[row] = INT64_MIN;
  }
}

void HideOtherProcesses(Store& store, ProcessId process) {
  const auto by_thread = [&](auto& table) {
    Hide(table, [&](size_t row) { return store.ProcessOf(table.thread[row]) == process; });
  };
  const auto by_process = [&](auto& table) {
    Hide(table, [&](size_t row) { return table.process[row] == process; });
  };
  by_thread(store.api_calls);
  by_thread(store.nvtx_ranges);
  by_thread(store.os_calls);
  by_thread(store.runtime_events);
  by_thread(store.mpi_events);
  by_process(store.kernels);
  by_process(store.memcpys);
  by_process(store.memsets);
  by_process(store.graph_launches);
}

Result<EventFilter> FindNvtxFilter(const Store& store, std::string_view text) {
  auto row = stats::FindRange(store, text);
  if (!row.ok()) return Status(row.status()).WithContext("--filter-nvtx");
  EventFilter filter;
  filter.window = stats::RangeTime(store, row.value());
  filter.process = store.ProcessOf(store.nvtx_ranges.thread[row.value()]);
  filter.arguments = "nvtx=" + std::string(text);
  filter.file_part = "_nvtx=" + std::string(text);
  std::replace(filter.file_part.begin(), filter.file_part.end(), '/', '-');
  return filter;
}

// "[start]/[end]". Errors: kUsage.
Result<EventFilter> ParseTimeFilter(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || text == "/") {
    return UsageError("--filter-time takes [start]/[end], as in 8s/8050ms, not \"" +
                      std::string(text) + "\"");
  }
  EventFilter filter;
  const auto read = [](std::string_view time, int64_t& ns) {
    if (time.empty()) return Status();
    auto parsed = ParseDuration(time);
    if (parsed.ok()) ns = parsed.value();
    return Status(parsed.status()).WithContext("--filter-time");
  };
  RETURN_IF_ERROR(read(text.substr(0, slash), filter.window.start_ns));
  RETURN_IF_ERROR(read(text.substr(slash + 1), filter.window.end_ns));
  // Both are named even where one was left out, because nsys names its files that way.
  filter.file_part = "_start=" + std::to_string(filter.window.start_ns) +
                     "_end=" + std::to_string(filter.window.end_ns);
  filter.arguments = "start=" + std::to_string(filter.window.start_ns) +
                     ":end=" + std::to_string(filter.window.end_ns);
  if (filter.window.end_ns < filter.window.start_ns) {
    return UsageError("--filter-time " + std::string(text) + ": the end is before the start");
  }
  return filter;
}

}  // namespace

stats::TimeWindow WindowOf(const FilterFlags& flags) {
  if (!flags.time || flags.nvtx) return {};
  const auto filter = ParseTimeFilter(*flags.time);
  return filter.ok() ? filter->window : stats::TimeWindow();
}

Status CheckFilterFlags(const FilterFlags& flags) {
  if (flags.time) RETURN_IF_ERROR(ParseTimeFilter(*flags.time).status());
  if (flags.nvtx && flags.nvtx->empty()) {
    return UsageError("--filter-nvtx takes RANGE[@DOMAIN][/INDEX], not \"\"");
  }
  return Status();
}

Result<EventFilter> MakeFilter(Store& store, const FilterFlags& flags, bool nsys_compat) {
  EventFilter filter;
  if (flags.time) {
    ASSIGN_OR_RETURN(filter, ParseTimeFilter(*flags.time));
  }
  if (!flags.nvtx) return filter;
  ASSIGN_OR_RETURN(filter, FindNvtxFilter(store, *flags.nvtx));
  if (nsys_compat && !filter.process.IsNone()) HideOtherProcesses(store, filter.process);
  return filter;
}

}  // namespace batchlight::cli
