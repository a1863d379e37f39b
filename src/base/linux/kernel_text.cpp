#include "base/kernel_text.h"

#include <cstdlib>
#include <fstream>

namespace batchlight {

std::string FirstLineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

uint64_t NumberIn(const std::string& path, std::string_view key, uint64_t fallback) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const char* text = line.c_str() + key.size();
    char* end = nullptr;
    const uint64_t number = std::strtoull(text, &end, 10);
    if (end != text) return number;
  }
  return fallback;
}

}  // namespace batchlight
