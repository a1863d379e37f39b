// Stretches of time as sorted lists without overlap: their union, how much of it lies in a window,
// and the gaps it leaves in the window.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace batchlight {

struct TimeSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;

  int64_t duration_ns() const { return end_ns - start_ns; }
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

inline constexpr TimeSpan kAllTime{INT64_MIN, INT64_MAX};

// What of a stretch lies in another; empty where nothing does.
inline TimeSpan PartInside(const TimeSpan& span, const TimeSpan& within) {
  const int64_t start_ns = std::max(span.start_ns, within.start_ns);
  return {start_ns, std::max(start_ns, std::min(span.end_ns, within.end_ns))};
}

// The longer of two, of equals the first; an empty one is none.
inline void KeepLonger(TimeSpan& longest, const TimeSpan& other) {
  if (other.duration_ns() > longest.duration_ns()) longest = other;
}
// The longest of them; empty: there is none.
inline TimeSpan LongestOf(const std::vector<TimeSpan>& spans) {
  TimeSpan longest;
  for (const TimeSpan& span : spans) KeepLonger(longest, span);
  return longest;
}

// Adds to an ordered list of disjoint stretches; `start_ns` must never decrease. Touching stretches
// are merged, open (kOpenEnd) and empty ones left out.
void AddSpan(std::vector<TimeSpan>& spans, int64_t start_ns, int64_t end_ns);

// Union of both; the operands are disjoint and ordered, and so is the result.
std::vector<TimeSpan> UniteSpans(const std::vector<TimeSpan>& a, const std::vector<TimeSpan>& b);
// The same of stretches in any order, which may overlap.
std::vector<TimeSpan> UnionOf(std::vector<TimeSpan> spans);
// Time of `spans` that lies inside [start_ns, end_ns).
int64_t NsInside(const std::vector<TimeSpan>& spans, int64_t start_ns, int64_t end_ns);
// The same for callers that mostly ask in order: `at` is where the search before ended, and any
// value of it gives the right answer.
int64_t NsInside(const std::vector<TimeSpan>& spans, int64_t start_ns, int64_t end_ns, size_t& at);

// visit(from_ns, to_ns) for every part of [start_ns, end_ns) that is in none of `spans`.
template <typename Visitor>
void VisitGaps(const std::vector<TimeSpan>& spans, int64_t start_ns, int64_t end_ns,
               Visitor&& visit) {
  auto span = std::partition_point(spans.begin(), spans.end(),
                                   [&](const TimeSpan& s) { return s.end_ns <= start_ns; });
  int64_t now_ns = start_ns;
  for (; span != spans.end() && span->start_ns < end_ns; ++span) {
    if (now_ns < span->start_ns) visit(now_ns, span->start_ns);
    now_ns = std::max(now_ns, span->end_ns);
  }
  if (now_ns < end_ns) visit(now_ns, end_ns);
}

// The union while it grows, for callers that need to know which stretch covered a time first.
class CoveredSoFar {
 public:
  // The start of the part that no earlier stretch covered; at or after `end_ns` if there is none.
  // Starts must never decrease.
  int64_t StartOfNew(int64_t start_ns, int64_t end_ns) {
    const int64_t from_ns = std::max(start_ns, until_ns_);
    until_ns_ = std::max(until_ns_, end_ns);
    return from_ns;
  }

 private:
  int64_t until_ns_ = INT64_MIN;
};

}  // namespace batchlight
