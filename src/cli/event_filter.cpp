#include "cli/event_filter.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "analysis/stats/event_names.h"
#include "base/duration_text.h"
#include "base/nearest.h"

namespace batchlight::cli {
namespace {

// A trailing "/17" of `text`, taken off; 0 if there is none.
size_t TakeIndex(std::string_view& text) {
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || slash + 1 == text.size()) return 0;
  size_t index = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + slash + 1, end, index);
  if (parsed.ec != std::errc() || parsed.ptr != end) return 0;
  text = text.substr(0, slash);
  return index;
}

bool InDomain(const Store& store, size_t range, std::string_view domain) {
  if (domain == "*") return true;
  const NvtxDomainId id = store.nvtx_ranges.domain[range];
  const std::string_view name =
      id.IsNone() ? std::string_view() : store.Text(store.nvtx_domains.name[id.row()]);
  return name == domain || (domain == "default" && id.IsNone());
}

std::string NoSuchRange(const Store& store, std::string_view name, std::string_view domain) {
  std::vector<std::string_view> known;
  for (size_t row = 0; row < store.nvtx_ranges.size(); ++row) {
    known.push_back(store.Text(store.nvtx_ranges.message[row]));
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  if (known.size() > 10000) known.resize(10000);
  return "--filter-nvtx: no range \"" + std::string(name) + "\"" +
         (domain.empty() ? " in the default domain" : " in domain " + std::string(domain)) +
         DidYouMean(NearestFew(name, known));
}

// Puts the rows that are not accepted before every window.
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

}  // namespace

Result<EventFilter> ParseTimeFilter(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return UsageError("--filter-time takes [start]/[end], as in 8s/8050ms, not \"" +
                      std::string(text) + "\"");
  }
  EventFilter filter;
  const std::string_view start = text.substr(0, slash);
  const std::string_view end = text.substr(slash + 1);
  if (!start.empty()) {
    ASSIGN_OR_RETURN(filter.window.start_ns, ParseDuration(start));
  }
  if (!end.empty()) {
    ASSIGN_OR_RETURN(filter.window.end_ns, ParseDuration(end));
  }
  // Both, also where one was left out: so nsys names its files.
  filter.file_part = "_start=" + std::to_string(filter.window.start_ns) +
                     "_end=" + std::to_string(filter.window.end_ns);
  filter.arguments = "start=" + std::to_string(filter.window.start_ns) +
                     ":end=" + std::to_string(filter.window.end_ns);
  if (filter.window.end_ns < filter.window.start_ns) {
    return UsageError("--filter-time " + std::string(text) + ": the end is before the start");
  }
  return filter;
}

Result<EventFilter> FindNvtxFilter(const Store& store, std::string_view text) {
  std::string_view name = text;
  const size_t index = TakeIndex(name);
  std::string_view domain;
  if (const size_t at = name.rfind('@'); at != std::string_view::npos) {
    domain = name.substr(at + 1);
    name = name.substr(0, at);
  }
  const NvtxRangesTable& ranges = store.nvtx_ranges;
  std::vector<size_t> found;
  const StringId message = store.strings.Find(name);
  for (size_t row = 0; row < ranges.size() && !message.IsNone(); ++row) {
    if (ranges.message[row] == message && InDomain(store, row, domain)) found.push_back(row);
  }
  if (found.empty()) return UsageError(NoSuchRange(store, name, domain));
  if (index >= found.size()) {
    return UsageError("--filter-nvtx: range \"" + std::string(name) + "\" has " +
                      std::to_string(found.size()) + " instances, numbered from 0; there is no " +
                      std::to_string(index));
  }
  std::stable_sort(found.begin(), found.end(),
                   [&](size_t a, size_t b) { return ranges.start_ns[a] < ranges.start_ns[b]; });
  const size_t row = found[index];
  EventFilter filter;
  filter.window.start_ns = ranges.start_ns[row];
  filter.window.end_ns =
      ranges.end_ns[row] == kOpenEnd ? stats::LatestRangeTime(store) : ranges.end_ns[row];
  filter.process = store.ProcessOf(ranges.thread[row]);
  filter.arguments = "nvtx=" + std::string(text);
  filter.file_part = "_nvtx=" + std::string(text);
  std::replace(filter.file_part.begin(), filter.file_part.end(), '/', '-');
  return filter;
}

Result<EventFilter> MakeFilter(Store& store, std::string_view time, std::string_view nvtx,
                               bool nsys_compat) {
  EventFilter filter;
  if (!time.empty()) {
    ASSIGN_OR_RETURN(filter, ParseTimeFilter(time));
  }
  if (nvtx.empty()) return filter;
  ASSIGN_OR_RETURN(filter, FindNvtxFilter(store, nvtx));
  if (nsys_compat && !filter.process.IsNone()) HideOtherProcesses(store, filter.process);
  return filter;
}

}  // namespace batchlight::cli
