// How certain the difference between two means is, with steps as samples.
#pragma once

#include <cstdint>
#include <vector>

namespace batchlight {

struct Interval {
  double low = 0;
  double high = 0;
  bool Contains(double value) const { return low <= value && value <= high; }
};

// 95 % interval for mean(b) - mean(a).
//
// Neighbouring steps resemble each other (clocks, caches, other load), so each series is first cut
// into at most 32 consecutive batches of nearly equal length; the means of batches are taken as
// independent. Welch's t does not assume equal variances. The interval is about these two runs and
// leaves out variation from run to run. Fewer than two values on a side: an infinite interval.
Interval DifferenceOfMeans(const std::vector<int64_t>& a, const std::vector<int64_t>& b);

// Two-sided 95 % quantile of Student's t; degrees >= 1, need not be whole.
double StudentQuantile95(double degrees);

}  // namespace batchlight
