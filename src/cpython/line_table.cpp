#include "cpython/line_table.h"

namespace batchlight::cpython {
namespace {

// Sums of what a damaged table says may leave the int.
uint32_t Known(int64_t line) {
  return line > 0 && line <= INT32_MAX ? static_cast<uint32_t>(line) : 0;
}

// Objects/lnotab_notes.txt of 3.9: (bytes to go on, lines to go on) pairs.
uint32_t LineOfPairs(const uint8_t* table, size_t bytes, int first_line, int offset) {
  int address = 0;
  int64_t line = first_line;
  for (size_t i = 0; i + 1 < bytes; i += 2) {
    address += table[i];
    if (address > offset) break;
    line += static_cast<int8_t>(table[i + 1]);
  }
  return Known(line);
}

// Objects/lnotab_notes.txt of 3.10: (bytes of the span, its line since the one before) pairs.
uint32_t LineOfSpans(const uint8_t* table, size_t bytes, int first_line, int offset) {
  constexpr int8_t kNoLine = -128;
  int end = 0;
  int64_t line = first_line;
  for (size_t i = 0; i + 1 < bytes; i += 2) {
    const auto delta = static_cast<int8_t>(table[i + 1]);
    if (delta != kNoLine) line += delta;
    end += table[i];
    if (offset < end) return delta == kNoLine ? 0 : Known(line);
  }
  return 0;
}

// Objects/locations.md of 3.11: entries of a byte 1kkkklll (kind, length - 1 in instructions), then
// bytes without the highest bit.
class Locations {
 public:
  Locations(const uint8_t* table, size_t bytes) : at_(table), end_(table + bytes) {}

  uint32_t LineOf(int first_line, int offset) {
    int end = 0;
    int64_t line = first_line;
    while (at_ != end_) {
      const int kind = *at_ >> 3 & 15;
      end += ((*at_ & 7) + 1) * kInstructionBytes;
      ++at_;
      line += LineDelta(kind);
      if (offset < end) return kind == kNoLocation ? 0 : Known(line);
      while (at_ != end_ && (*at_ & 0x80) == 0) ++at_;
    }
    return 0;
  }

 private:
  enum Kind { kOneLine0 = 10, kOneLine2 = 12, kNoColumns = 13, kLong = 14, kNoLocation = 15 };

  int LineDelta(int kind) {
    if (kind == kNoColumns || kind == kLong) return SignedNumber();
    return kind >= kOneLine0 && kind <= kOneLine2 ? kind - kOneLine0 : 0;
  }
  // Six bits a byte, the lowest first; the lowest bit of all is the sign.
  int SignedNumber() {
    uint32_t number = 0;
    for (int shift = 0; at_ != end_ && shift < 30; shift += 6) {
      const uint8_t byte = *at_++;
      number |= uint32_t{byte & 63u} << shift;
      if ((byte & 64) == 0) break;
    }
    const int value = static_cast<int>(number >> 1);
    return (number & 1) != 0 ? -value : value;
  }

  const uint8_t* at_;
  const uint8_t* const end_;
};

}  // namespace

int64_t OffsetOf(const FrameLayout& layout, uint64_t place, uint64_t code) {
  if (!layout.place_is_pointer) {
    return int64_t{static_cast<int32_t>(static_cast<uint32_t>(place))} * layout.place_unit;
  }
  return static_cast<int64_t>(place - code - layout.code_bytecode);
}

uint32_t LineAt(LineTableKind kind, const uint8_t* table, size_t bytes, int first_line,
                int64_t offset) {
  if (offset < -kInstructionBytes || offset > INT32_MAX) return 0;
  const int at = offset < 0 ? 0 : static_cast<int>(offset);
  switch (kind) {
    case LineTableKind::kPairs:
      return LineOfPairs(table, bytes, first_line, at);
    case LineTableKind::kSpans:
      return LineOfSpans(table, bytes, first_line, at);
    case LineTableKind::kLocations:
      return Locations(table, bytes).LineOf(first_line, at);
  }
  return 0;
}

}  // namespace batchlight::cpython
