// "5", "2.5": a mean count. What the end of the recording cuts off is no part of one.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "analysis/advice/advice_text.h"

namespace batchlight {

inline std::string CountText(double count) {
  constexpr double kNearly = 0.1;
  const double whole = std::round(count);
  return std::abs(count - whole) < kNearly ? std::to_string(static_cast<int64_t>(whole))
                                           : Rounded(count);
}

}  // namespace batchlight
