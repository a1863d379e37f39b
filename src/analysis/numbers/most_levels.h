// How deep calls lie in each other, at most, as far as sums look.
#pragma once

#include <cstddef>

namespace batchlight {

// No program nests deeper; a recording that means harm does, and time for each level of each call
// would grow by the square. What is further out is not looked at.
inline constexpr size_t kMostLevels = 1000;

}  // namespace batchlight
