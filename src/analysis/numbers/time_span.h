// Stretches of time as sorted lists without overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace batchlight {

struct TimeSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// Adds to an ordered list of disjoint stretches, where `start_ns` never falls; touching stretches
// become one. An open stretch (kOpenEnd) and one without length are left out.
void AddSpan(std::vector<TimeSpan>& spans, int64_t start_ns, int64_t end_ns);

// Union of both; the operands are disjoint and ordered, and so is the result.
std::vector<TimeSpan> UniteSpans(const std::vector<TimeSpan>& a, const std::vector<TimeSpan>& b);
int64_t TotalNs(const std::vector<TimeSpan>& spans);
// Time of `spans` that lies inside [start_ns, end_ns).
int64_t NsInside(const std::vector<TimeSpan>& spans, int64_t start_ns, int64_t end_ns);

}  // namespace batchlight
