// Text taken apart at a character.
#pragma once

#include <string_view>
#include <vector>

namespace batchlight {

// Every part, empty ones too: "a,,b" is "a", "", "b" and "" is one empty part. The parts point into
// `text`.
inline std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace batchlight
