#include "report/text/utf8.h"

#include <algorithm>

#include "base/json_text.h"
#include "base/printable_text.h"

namespace batchlight {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";     // U+2026

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

}  // namespace

// A mark of direction (base/printable_text.h) is no character for people either: U+FFFD.
std::string CleanText(std::string_view bytes) {
  std::string clean;
  clean.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = Utf8Length(bytes);
    if (length == 0) {
      clean += kReplacement;
    } else if (ControlLength(bytes) > 0) {
      clean += length == 1 ? std::string_view(" ") : kReplacement;
    } else {
      clean += bytes.substr(0, length);
    }
    bytes.remove_prefix(std::max<size_t>(1, length));
  }
  return clean;
}

size_t CharacterCount(std::string_view clean) {
  size_t count = 0;
  for (const char byte : clean) count += !IsContinuation(static_cast<unsigned char>(byte));
  return count;
}

size_t OffsetOf(std::string_view clean, size_t index) {
  size_t offset = 0;
  while (offset < clean.size() && index > 0) {
    do ++offset;
    while (offset < clean.size() && IsContinuation(static_cast<unsigned char>(clean[offset])));
    --index;
  }
  return offset;
}

std::string CutEnd(std::string_view clean, size_t most) {
  if (CharacterCount(clean) <= most) return std::string(clean);
  if (most == 0) return "";
  return std::string(clean.substr(0, OffsetOf(clean, most - 1))) + std::string(kEllipsis);
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
