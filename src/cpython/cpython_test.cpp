// Frames, line tables and texts as CPython lays them out, by bytes that its own compiler made
// (co_lnotab of 3.9, co_linetable of 3.10 and 3.12).
#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "cpython/frame_layout.h"
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

// The words at the start of _PyRuntime, as CPython 3.13.5 without a GIL has them on x86-64.
constexpr uint64_t kFreeThreaded313[] = {
    0x7970677562656478,
    0x030d05f0,
    1,  // "xdebugpy", version, free-threaded
    328320,
    608,
    632,  // _PyRuntimeState
    215616,
    7272,
    7264,
    7344,
    7400,
    7664,
    7648,
    7656,
    16,
    7760,
    0,
    7784,
    7776,
    304,
    0,
    8,
    16,
    72,
    152,
    160,
    232,
    32,  // PyThreadState
    80,
    8,
    0,
    56,
    72,
    70,  // _PyInterpreterFrame
    224,
    128,
    136,
    144,
    152,
    84,
    68,
    112,
    120,
    216,  // PyCodeObject
    32,
    24,  // PyObject
    432,
    40,
    104,
    184,
    48,
    40,
    32,
    56,
    40,
    32,
    64,
    48,
    56,
    40,
    32,
    48,
    32,
    40,
    56,
    32,
    48,  // PyBytesObject
    80,
    48,
    32,
    56,  // str
};

TEST(FrameLayout, OfFreeThreadedPythonIsDescribed) {
  const char* why = nullptr;
  const FrameLayout* layout = FindFrameLayout(13, kFreeThreaded313, &why);
  ASSERT_NE(layout, nullptr) << why;
  EXPECT_EQ(layout->object_type, 24);
  EXPECT_EQ(layout->object_size, 32);
  EXPECT_EQ(layout->thread_frame, 72);
  EXPECT_EQ(layout->frame_owner, 70);
  EXPECT_EQ(layout->code_name, 144);
  EXPECT_EQ(layout->code_table, 152);
  EXPECT_EQ(layout->code_bytecode, 216);
  EXPECT_EQ(layout->bytes_data, 48);
  EXPECT_EQ(layout->text_state, 48);
  EXPECT_EQ(layout->ascii_data, 56);
  EXPECT_EQ(layout->compact_data, 72);
}

// The same of CPython 3.14.10, with a GIL.
constexpr uint64_t k314[] = {
    0x7970677562656478,
    0x030e0af0,
    0,  // "xdebugpy", version, free-threaded
    316616,
    784,
    808,  // _PyRuntimeState
    225864,
    7280,
    7272,
    7344,
    7360,
    7408,
    7688,
    7672,
    7680,
    16,
    7784,
    0,
    7800,
    7792,
    7992,
    0,  // PyInterpreterState
    832,
    0,
    8,
    16,
    72,
    152,
    160,
    232,
    32,  // PyThreadState
    88,
    8,
    0,
    56,
    80,
    74,
    64,
    0,  // _PyInterpreterFrame
    216,
    112,
    120,
    128,
    136,
    68,
    52,
    96,
    104,
    208,
    0,  // PyCodeObject
    16,
    8,  // PyObject
    416,
    24,
    88,
    168,
    40,
    32,
    16,
    40,
    24,
    16,
    200,
    24,
    40,
    32,
    48,
    32,
    40,
    24,
    16,
    32,
    16,
    24,
    40,
    16,
    32,  // PyBytesObject
    64,
    32,
    16,
    40,  // str
};

TEST(FrameLayout, Of314IsDescribed) {
  const char* why = nullptr;
  const FrameLayout* layout = FindFrameLayout(14, k314, &why);
  ASSERT_NE(layout, nullptr) << why;
  EXPECT_EQ(layout->object_type, 8);
  EXPECT_EQ(layout->object_size, 16);
  EXPECT_EQ(layout->thread_frame, 72);
  EXPECT_EQ(layout->frame_code, 0);
  EXPECT_EQ(layout->frame_back, 8);
  EXPECT_EQ(layout->frame_place, 56);
  EXPECT_EQ(layout->frame_owner, 74);
  EXPECT_EQ(layout->code_file, 112);
  EXPECT_EQ(layout->code_name, 128);
  EXPECT_EQ(layout->code_table, 136);
  EXPECT_EQ(layout->code_first_line, 68);
  EXPECT_EQ(layout->code_bytecode, 208);
  EXPECT_EQ(layout->bytes_data, 32);
  EXPECT_EQ(layout->text_length, 16);
  EXPECT_EQ(layout->text_state, 32);
  EXPECT_EQ(layout->ascii_data, 40);
  EXPECT_EQ(layout->compact_data, 56);
}

TEST(FrameLayout, CodeIsFoundWhateverMarkItsReferenceHas) {
  const char* why = nullptr;
  const FrameLayout* layout = FindFrameLayout(14, k314, &why);
  ASSERT_NE(layout, nullptr) << why;
  for (const uint64_t mark : {0, 1, 3}) {
    const uint64_t frame[] = {0xabc0 | mark};
    EXPECT_EQ(CodeOf(*layout, frame), 0xabc0u);
  }
}

TEST(FrameLayout, OnlyFreeThreadedPythonHasAGilSwitch) {
  const uint64_t interpreter[] = {0, 0, 0xabc0};  // its GIL at 16
  const uint64_t thread[] = {0, 0, reinterpret_cast<uint64_t>(interpreter)};
  EXPECT_TRUE(IsFreeThreaded(kFreeThreaded313));
  EXPECT_EQ(GilSwitchOf(kFreeThreaded313, thread), 0xabc0u);
  uint64_t with_gil[std::size(kFreeThreaded313)];
  std::memcpy(with_gil, kFreeThreaded313, sizeof with_gil);
  with_gil[2] = 0;
  EXPECT_FALSE(IsFreeThreaded(with_gil));
  EXPECT_EQ(GilSwitchOf(with_gil, thread), 0u);
  EXPECT_FALSE(IsFreeThreaded(nullptr));
  EXPECT_EQ(GilSwitchOf(nullptr, thread), 0u);
}

TEST(FrameLayout, OfVersionsThatAreNotKnownIsNone) {
  const char* why = nullptr;
  EXPECT_EQ(FindFrameLayout(15, k314, &why), nullptr);
  EXPECT_STREQ(why, "this version of Python is not known (3.8 to 3.14 are)");
  EXPECT_EQ(FindFrameLayout(14, kFreeThreaded313, &why), nullptr);
  EXPECT_EQ(FindFrameLayout(13, k314, &why), nullptr);
  for (const auto& [word, value] : {std::pair<size_t, uint64_t>{1, 0x030e00a7}, {2, 1}}) {
    uint64_t changed[std::size(k314)];  // an alpha; without a GIL
    std::memcpy(changed, k314, sizeof changed);
    changed[word] = value;
    why = nullptr;
    EXPECT_EQ(FindFrameLayout(14, changed, &why), nullptr);
    EXPECT_NE(why, nullptr);
  }
  uint64_t other[std::size(kFreeThreaded313)];
  std::memcpy(other, kFreeThreaded313, sizeof other);
  other[1] = 0x030e00f0;
  EXPECT_TRUE(IsFreeThreaded(other));
  EXPECT_EQ(FindFrameLayout(13, other, &why), nullptr);
  EXPECT_EQ(FindFrameLayout(13, nullptr, &why), nullptr);
}

}  // namespace
}  // namespace batchlight::cpython
