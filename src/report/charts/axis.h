// Places the ticks of a chart's axis.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace batchlight {

// A round step: one of `factors` (in falling order) times a power of ten, chosen so that about
// `count` steps cover `range`. There are at most that many, except that the last may reach beyond
// the range.
inline double RoundStep(double range, int count, std::initializer_list<double> factors) {
  const double rough = range / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : factors) {
    if (factor * power >= rough * (1 - 1e-9)) step = factor * power;
  }
  return step;
}

}  // namespace batchlight
