#include "analysis/numbers/statistics.h"

#include <algorithm>
#include <cmath>

#include "analysis/numbers/quantile.h"

namespace batchlight {
Sample Summarize(std::vector<int64_t> values) {
  Sample sample;
  if (values.empty()) return sample;
  sample.count = values.size();
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  sample.min = *min;
  sample.max = *max;
  for (const int64_t value : values) sample.total += value;
  sample.mean = double(sample.total) / double(sample.count);
  if (sample.count > 1) {
    double squares = 0;
    for (const int64_t value : values) {
      squares += (double(value) - sample.mean) * (double(value) - sample.mean);
    }
    sample.standard_deviation = std::sqrt(squares / double(sample.count - 1));
  }
  const double median = Quantile(values, 0.5);
  sample.median = std::llround(median);
  sample.p5 = std::llround(Quantile(values, 0.05));
  sample.p95 = std::llround(Quantile(values, 0.95));
  std::vector<double> distances(values.size());
  std::transform(values.begin(), values.end(), distances.begin(),
                 [&](int64_t value) { return std::abs(double(value) - median); });
  sample.spread = 1.4826 * Quantile(distances, 0.5);
  return sample;
}

int64_t OutlierDistance(const Sample& sample) {
  return std::llround(std::max(5 * sample.spread, 0.1 * double(sample.median)));
}

}  // namespace batchlight
