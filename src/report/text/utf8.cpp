#include "report/text/utf8.h"

#include <cstdint>

namespace batchlight {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";     // U+2026

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Length of the well-formed character at the start of `bytes`, 0 if there is none (Unicode 3.9,
// table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
size_t CharacterLength(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(at(i))) return 0;
  }
  if (lead == 0xE0 && at(1) < 0xA0) return 0;
  if (lead == 0xED && at(1) > 0x9F) return 0;
  if (lead == 0xF0 && at(1) < 0x90) return 0;
  if (lead == 0xF4 && at(1) > 0x8F) return 0;
  return length;
}

// Byte offset of character number `index`.
size_t OffsetOf(std::string_view clean, size_t index) {
  size_t offset = 0;
  while (offset < clean.size() && index > 0) {
    do ++offset;
    while (offset < clean.size() && IsContinuation(static_cast<unsigned char>(clean[offset])));
    --index;
  }
  return offset;
}

}  // namespace

std::string CleanText(std::string_view bytes) {
  std::string clean;
  clean.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = CharacterLength(bytes);
    const unsigned char first = static_cast<unsigned char>(bytes[0]);
    if (length == 0) {
      clean += kReplacement;
    } else if (length == 1 && (first < 0x20 || first == 0x7F)) {
      clean += ' ';
    } else {
      clean += bytes.substr(0, length);
    }
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

size_t CharacterCount(std::string_view clean) {
  size_t count = 0;
  for (const char byte : clean) count += !IsContinuation(static_cast<unsigned char>(byte));
  return count;
}

std::string ElideMiddle(std::string_view clean, size_t most) {
  const size_t count = CharacterCount(clean);
  if (count <= most) return std::string(clean);
  if (most < 3) return std::string(clean.substr(0, OffsetOf(clean, most)));
  const size_t tail = (most - 1) / 2;
  const size_t head = most - 1 - tail;
  std::string elided(clean.substr(0, OffsetOf(clean, head)));
  elided += kEllipsis;
  elided += clean.substr(OffsetOf(clean, count - tail));
  return elided;
}

}  // namespace batchlight
