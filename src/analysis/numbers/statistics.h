// Robust statistics of a sample, for step times and the like. Quantiles are interpolated
// (quantile.h).
//
// Spread: 1.4826 x median(|v - median|). It equals the standard deviation of a normal sample, and
// up to half of the values can be wild without affecting it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace batchlight {

struct Sample {
  size_t count = 0;
  int64_t total = 0;
  int64_t min = 0;
  int64_t p5 = 0;
  int64_t median = 0;
  int64_t p95 = 0;
  int64_t max = 0;
  double mean = 0;
  double standard_deviation = 0;  // of the sample (n - 1); 0 below two values
  double spread = 0;              // see above
};

// Below five values a percentile says no more than the shortest and the longest: it is not printed.
inline bool HasPercentiles(const Sample& sample) { return sample.count >= 5; }

// All zero for no values. Quantiles are rounded to the nearest integer.
Sample Summarize(std::vector<int64_t> values);

// How far above the median a value counts as an outlier: 5 spreads, and at least 10 % of the
// median, so that the jitter of a very even loop is not called one.
int64_t OutlierDistance(const Sample& sample);

}  // namespace batchlight
