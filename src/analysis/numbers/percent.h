#pragma once

namespace batchlight {

// The part of a whole in percent; of nothing it is 0.
template <typename Number>
double PercentOf(Number part, Number whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace batchlight
