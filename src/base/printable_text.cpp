#include "base/printable_text.h"

#include <algorithm>

#include "base/json_text.h"

namespace batchlight {
namespace {

// Characters of UTF-8 that are shown as nothing and change how the rest is shown.
constexpr std::string_view kDirectionMarks[] = {
    "\xd8\x9c",      // U+061C Arabic letter mark
    "\xe2\x80\x8e",  // U+200E left-to-right mark
    "\xe2\x80\x8f",  // U+200F right-to-left mark
    "\xe2\x80\xa8",  // U+2028 line separator
    "\xe2\x80\xa9",  // U+2029 paragraph separator
    "\xe2\x80\xaa",  // U+202A to U+202E: embeddings and overrides
    "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae",
    "\xe2\x81\xa6",  // U+2066 to U+2069: isolates
    "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9"};

bool IsSafeInShell(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

// As $'...', in which bash and zsh read \xNN as a byte.
std::string WithEscapes(std::string_view path) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string word = "$'";
  for (const char c : path) {
    if (c >= 0x20 && c < 0x7f && c != '\'' && c != '\\') {
      word += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    word += "\\x";
    word += kHex[byte >> 4];
    word += kHex[byte & 15];
  }
  return word + "'";
}

}  // namespace

size_t ControlLength(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x20 || first == 0x7f) return 1;
  if (first == 0xc2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xa0) return 2;
  if (first != 0xe2 && first != 0xd8) return 0;
  for (const std::string_view mark : kDirectionMarks) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

std::string PrintableText(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const char first = text[0];
    size_t length = 1;
    if ((first >= 0x20 && first < 0x7f) || first == '\n' || first == '\t') {
      clean += first;
    } else {
      const size_t valid = Utf8Length(text);
      const size_t control = valid == 0 ? 1 : ControlLength(text);
      length = std::max<size_t>(1, valid);
      clean += control == 0 ? text.substr(0, length) : "\xef\xbf\xbd";
    }
    text.remove_prefix(length);
  }
  return clean;
}

std::string SpreadsheetText(std::string_view text) {
  const bool formula =
      !text.empty() && std::string_view("=+-@\t\r\n").find(text[0]) != std::string_view::npos;
  return (formula ? "'" : "") + std::string(text);
}

std::string ShellPath(std::string_view path) {
  std::string word(path.starts_with('-') ? "./" : "");  // else it would be an option
  word += path;
  if (!word.empty() && std::all_of(word.begin(), word.end(), IsSafeInShell)) return word;
  if (PrintableText(word) != word || word.find_first_of("\n\t") != std::string::npos) {
    return WithEscapes(word);
  }
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace batchlight
