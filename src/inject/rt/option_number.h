// A number among the lines key=value of ControlPage::extra.
#pragma once

#include <cstdint>
#include <cstring>

namespace batchlight::inject {

// The digits that a text begins with, as a number; 0 if there are none.
inline uint64_t LeadingNumber(const char* text) {
  uint64_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    if (number > UINT64_MAX / 16) return number;
    number = number * 10 + static_cast<uint64_t>(*text - '0');
  }
  return number;
}

// Whether there is such a line. `key` with its "=".
inline bool HasOption(const char* extra, const char* key) {
  const char* found = std::strstr(extra, key);
  return found != nullptr && (found == extra || found[-1] == '\n');
}

// `key` with its "="; 0 if there is no such line.
inline uint64_t OptionNumber(const char* extra, const char* key) {
  const char* found = std::strstr(extra, key);
  if (found == nullptr || (found != extra && found[-1] != '\n')) return 0;
  return LeadingNumber(found + std::strlen(key));
}

}  // namespace batchlight::inject
