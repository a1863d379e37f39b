#include "analysis/stats/range_choice.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "analysis/stats/event_names.h"
#include "base/nearest.h"

namespace batchlight::stats {
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

}  // namespace

Result<size_t> FindRange(const Store& store, std::string_view text) {
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
  if (found.empty()) {
    return UsageError(
        "no range \"" + std::string(name) + "\"" +
        (domain.empty() ? " in the default domain" : " in domain " + std::string(domain)) +
        NearestRanges(store, name));
  }
  if (index >= found.size()) {
    return UsageError("range \"" + std::string(name) + "\" has " + std::to_string(found.size()) +
                      " instances, numbered from 0; there is no " + std::to_string(index));
  }
  std::stable_sort(found.begin(), found.end(),
                   [&](size_t a, size_t b) { return ranges.start_ns[a] < ranges.start_ns[b]; });
  return found[index];
}

TimeWindow RangeTime(const Store& store, size_t row) {
  const int64_t end = store.nvtx_ranges.end_ns[row];
  return {store.nvtx_ranges.start_ns[row], end == kOpenEnd ? LatestRangeTime(store) : end};
}

std::string NearestRanges(const Store& store, std::string_view name) {
  std::vector<std::string_view> known;
  for (size_t row = 0; row < store.nvtx_ranges.size(); ++row) {
    known.push_back(store.Text(store.nvtx_ranges.message[row]));
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  if (known.size() > 10000) known.resize(10000);
  return DidYouMean(NearestFew(name, known));
}

}  // namespace batchlight::stats
