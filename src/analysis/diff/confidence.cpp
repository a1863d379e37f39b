#include "analysis/diff/confidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace batchlight {
namespace {

constexpr size_t kMostBatches = 32;

struct Moments {
  double mean = 0;
  double variance_of_mean = 0;
  double degrees = 0;
};

Moments OfBatches(const std::vector<int64_t>& values) {
  const size_t batches = std::min(values.size(), kMostBatches);
  std::vector<double> means;
  Moments moments;
  for (size_t batch = 0; batch < batches; ++batch) {
    const size_t from = batch * values.size() / batches;
    const size_t to = (batch + 1) * values.size() / batches;
    double sum = 0;
    for (size_t i = from; i < to; ++i) sum += double(values[i]);
    means.push_back(sum / double(to - from));
  }
  for (const int64_t value : values) moments.mean += double(value) / double(values.size());
  double center = 0;
  for (const double mean : means) center += mean / double(batches);
  double squares = 0;
  for (const double mean : means) squares += (mean - center) * (mean - center);
  moments.degrees = double(batches - 1);
  moments.variance_of_mean = squares / moments.degrees / double(batches);
  return moments;
}

}  // namespace

double StudentQuantile95(double degrees) {
  constexpr double kTable[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060,
                               2.2622,  2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199,
                               2.1098,  2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639,
                               2.0595,  2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
  constexpr size_t kRows = std::size(kTable);
  constexpr double kNormal = 1.959964;
  if (degrees >= double(kRows)) {  // straight in 1 / degrees down to the normal distribution
    return kNormal + (kTable[kRows - 1] - kNormal) * double(kRows) / degrees;
  }
  const size_t below = std::max<size_t>(1, static_cast<size_t>(degrees));
  const double fraction = std::clamp(degrees - double(below), 0.0, 1.0);
  return kTable[below - 1] + fraction * (kTable[std::min(below, kRows - 1)] - kTable[below - 1]);
}

Interval DifferenceOfMeans(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  if (a.size() < 2 || b.size() < 2) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {-kInfinity, kInfinity};
  }
  const Moments of_a = OfBatches(a);
  const Moments of_b = OfBatches(b);
  const double difference = of_b.mean - of_a.mean;
  const double variance = of_a.variance_of_mean + of_b.variance_of_mean;
  if (variance <= 0) return {difference, difference};
  // Welch and Satterthwaite's degrees of freedom.
  const double degrees = variance * variance /
                         (of_a.variance_of_mean * of_a.variance_of_mean / of_a.degrees +
                          of_b.variance_of_mean * of_b.variance_of_mean / of_b.degrees);
  const double half = StudentQuantile95(degrees) * std::sqrt(variance);
  return {difference - half, difference + half};
}

}  // namespace batchlight
