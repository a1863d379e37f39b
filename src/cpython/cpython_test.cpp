// Line tables and texts as CPython lays them out, by bytes that its own compiler made (co_lnotab of
// 3.9, co_linetable of 3.10 and 3.12).
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "cpython/line_table.h"
#include "cpython/text_object.h"

namespace batchlight::cpython {
namespace {

uint32_t Line(LineTableKind kind, const std::vector<uint8_t>& table, int first_line, int offset) {
  return LineAt(kind, table.data(), table.size(), first_line, offset);
}

TEST(LineTable, PairsOf39) {
  // Six bytes of line 10, then 4 lines on, then 2 lines back.
  const std::vector<uint8_t> table = {0, 0, 6, 4, 8, 0xfe};
  EXPECT_EQ(Line(LineTableKind::kPairs, table, 10, 0), 10u);
  EXPECT_EQ(Line(LineTableKind::kPairs, table, 10, 5), 10u);
  EXPECT_EQ(Line(LineTableKind::kPairs, table, 10, 6), 14u);
  EXPECT_EQ(Line(LineTableKind::kPairs, table, 10, 200), 12u);
}

TEST(LineTable, SpansOf310) {
  const std::vector<uint8_t> table = {4, 1, 6, 0x80, 2, 5};
  EXPECT_EQ(Line(LineTableKind::kSpans, table, 10, 0), 11u);
  EXPECT_EQ(Line(LineTableKind::kSpans, table, 10, 4), 0u);  // no line
  EXPECT_EQ(Line(LineTableKind::kSpans, table, 10, 10), 16u);
  EXPECT_EQ(Line(LineTableKind::kSpans, table, 10, 12), 0u);  // beyond
}

TEST(LineTable, LocationsOf311) {
  const std::vector<uint8_t> table = {
      0x80 | 15 << 3 | 0,  // 1 instruction without a location
      0x80 | 13 << 3 | 1,
      0x02,  // 2 instructions, 1 line on
      0x80 | 10 << 3 | 0,
      0x04,
      0x06,  // 1, same line, columns
      0x80 | 12 << 3 | 0,
      0x04,
      0x06,  // 1, 2 lines on
      0x80 | 14 << 3 | 0,
      0x43,
      0x01,
      0,
      0,
      0,  // 1, 33 / 2 lines back, with an end line and columns
      0x80 | 3 << 3 | 0,
      0x21,  // 1, short form, same line
  };
  const auto line = [&](int instruction) {
    return Line(LineTableKind::kLocations, table, 100, 2 * instruction);
  };
  EXPECT_EQ(line(0), 0u);
  EXPECT_EQ(line(1), 101u);
  EXPECT_EQ(line(2), 101u);
  EXPECT_EQ(line(3), 101u);
  EXPECT_EQ(line(4), 103u);
  EXPECT_EQ(line(5), 103u - 33);
  EXPECT_EQ(line(6), 103u - 33);
  EXPECT_EQ(line(7), 0u);  // beyond
}

TEST(LineTable, SurvivesTablesThatEndEarly) {
  for (const LineTableKind kind :
       {LineTableKind::kPairs, LineTableKind::kSpans, LineTableKind::kLocations}) {
    EXPECT_LE(Line(kind, {}, 7, 0), 7u);
    EXPECT_LE(Line(kind, {0xf0}, 7, 100), 7u);
  }
}

// A str of 3.12: 16 bytes of head, length, hash, state, then the characters.
template <typename Character>
std::string Read(const std::vector<Character>& characters, uint32_t kind, bool ascii) {
  const FrameLayout layout = {
      .text_length = 16, .text_state = 32, .ascii_data = 40, .compact_data = 56};
  std::vector<char> object(56 + sizeof(Character) * characters.size());
  const size_t length = characters.size();
  const uint32_t state = kind << 2 | 1u << 5 | uint32_t{ascii} << 6;
  std::memcpy(object.data() + 16, &length, 8);
  std::memcpy(object.data() + 32, &state, 4);
  std::memcpy(object.data() + (ascii ? 40 : 56), characters.data(), sizeof(Character) * length);
  char buffer[kTextBytes];
  const TextView text = ReadText(layout, object.data(), buffer);
  return std::string(text.data, text.size);
}

TEST(TextObject, IsReadAsUtf8) {
  EXPECT_EQ(Read<uint8_t>({'a', '.', 'p', 'y'}, 1, true), "a.py");
  EXPECT_EQ(Read<uint8_t>({'h', 0xf6}, 1, false), "h\u00f6");
  EXPECT_EQ(Read<uint16_t>({0x6d1e, 'x'}, 2, false), "\u6d1ex");
  EXPECT_EQ(Read<uint32_t>({0x1f600}, 4, false), "\U0001f600");
  EXPECT_EQ(Read<uint16_t>({0xd800}, 2, false), "?");  // a lone surrogate
  EXPECT_EQ(Read<uint8_t>({'a'}, 3, false), "");       // no kind of text
  EXPECT_EQ(Read(std::vector<uint8_t>(5000, 'a'), 1, true).size(), kTextBytes);
  EXPECT_LE(Read(std::vector<uint8_t>(5000, 0xe4), 1, false).size(), kTextBytes);
}

}  // namespace
}  // namespace batchlight::cpython
