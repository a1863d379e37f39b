// A number among the lines key=value of ControlPage::extra.
#pragma once

#include <cstdint>
#include <cstring>

namespace batchlight::inject {

// Whether there is such a line. `key` with its "=".
inline bool HasOption(const char* extra, const char* key) {
  const char* found = std::strstr(extra, key);
  return found != nullptr && (found == extra || found[-1] == '\n');
}

// `key` with its "="; 0 if there is no such line.
inline uint64_t OptionNumber(const char* extra, const char* key) {
  const char* found = std::strstr(extra, key);
  if (found == nullptr || (found != extra && found[-1] != '\n')) return 0;
  uint64_t number = 0;
  for (const char* at = found + std::strlen(key); *at >= '0' && *at <= '9'; ++at) {
    if (number > UINT64_MAX / 16) return number;
    number = number * 10 + static_cast<uint64_t>(*at - '0');
  }
  return number;
}

}  // namespace batchlight::inject
