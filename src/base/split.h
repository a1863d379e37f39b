// Text taken apart: at a character, or from its front into lines, words and the numbers that these
// spell.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
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

// What stands before `end`, all where there is none; both are taken off `text`.
inline std::string_view TakeUntil(std::string_view& text, char end) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), taken.size() + 1));
  return taken;
}

inline std::string_view TakeLine(std::string_view& text) { return TakeUntil(text, '\n'); }

// A word, and the spaces before and the one behind it.
inline std::string_view TakeWord(std::string_view& text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ')));
  return TakeUntil(text, ' ');
}

// False, with `number` as it was, unless the whole word is a number that fits.
template <typename Number>
bool ReadNumber(std::string_view word, Number& number) {
  Number read{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), read);
  if (error != std::errc() || end != word.data() + word.size()) return false;
  number = read;
  return true;
}

}  // namespace batchlight
