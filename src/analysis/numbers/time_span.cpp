#include "analysis/numbers/time_span.h"

#include <algorithm>

#include "store/tables.h"

namespace batchlight {

void AddSpan(std::vector<TimeSpan>& spans, int64_t start_ns, int64_t end_ns) {
  if (end_ns <= start_ns || end_ns == kOpenEnd) return;
  if (!spans.empty() && start_ns <= spans.back().end_ns) {
    spans.back().end_ns = std::max(spans.back().end_ns, end_ns);
  } else {
    spans.push_back({start_ns, end_ns});
  }
}

std::vector<TimeSpan> UniteSpans(const std::vector<TimeSpan>& a, const std::vector<TimeSpan>& b) {
  std::vector<TimeSpan> united;
  united.reserve(a.size() + b.size());
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool take_a = j == b.size() || (i < a.size() && a[i].start_ns <= b[j].start_ns);
    const TimeSpan& next = take_a ? a[i++] : b[j++];
    AddSpan(united, next.start_ns, next.end_ns);
  }
  return united;
}

std::vector<TimeSpan> UnionOf(std::vector<TimeSpan> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const TimeSpan& a, const TimeSpan& b) { return a.start_ns < b.start_ns; });
  std::vector<TimeSpan> united;
  for (const TimeSpan& span : spans) AddSpan(united, span.start_ns, span.end_ns);
  return united;
}

int64_t NsInside(const std::vector<TimeSpan>& spans, int64_t start_ns, int64_t end_ns) {
  size_t at = SIZE_MAX;
  return NsInside(spans, start_ns, end_ns, at);
}

int64_t NsInside(const std::vector<TimeSpan>& spans, int64_t start_ns, int64_t end_ns, size_t& at) {
  const auto is_before = [&](const TimeSpan& span) { return span.end_ns <= start_ns; };
  const auto first_from = [&](size_t from) {
    return static_cast<size_t>(
        std::partition_point(spans.begin() + static_cast<ptrdiff_t>(from), spans.end(), is_before) -
        spans.begin());
  };
  if (at > spans.size() || (at > 0 && !is_before(spans[at - 1]))) {
    at = first_from(0);
  } else if (at < spans.size() && is_before(spans[at]) && ++at < spans.size() &&
             is_before(spans[at])) {
    at = first_from(at + 1);
  }
  int64_t total = 0;
  for (auto span = spans.begin() + static_cast<ptrdiff_t>(at);
       span != spans.end() && span->start_ns < end_ns; ++span) {
    total += std::min(span->end_ns, end_ns) - std::max(span->start_ns, start_ns);
  }
  return total;
}

}  // namespace batchlight
