// 1234567 -> "1,234,567".
#pragma once

#include <cstdint>
#include <string>

namespace batchlight {

inline std::string WithThousands(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

}  // namespace batchlight
