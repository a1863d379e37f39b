#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace batchlight {

// "0x7F3A10": as nsys writes addresses.
inline std::string HexAddress(uint64_t address) {
  char text[32];
  const int count =
      std::snprintf(text, sizeof text, "0x%llX", static_cast<unsigned long long>(address));
  return std::string(text, static_cast<size_t>(count));
}

}  // namespace batchlight
