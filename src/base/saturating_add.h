// Sums of what a recording says: its bytes may be anything, so they stop at the largest number.
#pragma once

#include <limits>

namespace batchlight {

template <typename T>
void SaturatingAdd(T& sum, T value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = std::numeric_limits<T>::max();
}

}  // namespace batchlight
