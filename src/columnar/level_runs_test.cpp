#include "columnar/level_runs.h"

#include <gtest/gtest.h>

#include <vector>

namespace batchlight {
namespace {

std::vector<uint8_t> Encoded(const std::vector<uint32_t>& values, int bits) {
  std::string out;
  AppendRuns(values, bits, out);
  return {out.begin(), out.end()};
}

// What a reader does: the first `count` values.
std::vector<uint32_t> Decoded(const std::vector<uint8_t>& bytes, int bits, size_t count) {
  std::vector<uint32_t> values;
  size_t at = 0;
  while (values.size() < count) {
    uint64_t header = 0;
    for (int shift = 0;; shift += 7) {
      header |= uint64_t{bytes.at(at) & 0x7fu} << shift;
      if ((bytes.at(at++) & 0x80) == 0) break;
    }
    if ((header & 1) == 0) {
      uint32_t value = 0;
      for (int i = 0; i < (bits + 7) / 8; ++i) value |= uint32_t{bytes.at(at++)} << i * 8;
      values.insert(values.end(), header >> 1, value);
      continue;
    }
    const size_t first_bit = at * 8;
    for (size_t i = 0; i < (header >> 1) * 8; ++i) {
      uint32_t value = 0;
      for (int bit = 0; bit < bits; ++bit) {
        const size_t place = first_bit + i * size_t(bits) + size_t(bit);
        value |= (uint32_t{bytes.at(place / 8)} >> place % 8 & 1) << bit;
      }
      values.push_back(value);
    }
    at += (header >> 1) * size_t(bits);
  }
  EXPECT_EQ(at, bytes.size());
  values.resize(count);
  return values;
}

TEST(LevelRunsTest, TheExampleOfTheFormat) {
  // "0 to 7, packed into three bits": 10001000 11000110 11111010.
  EXPECT_EQ(Encoded({0, 1, 2, 3, 4, 5, 6, 7}, 3), (std::vector<uint8_t>{3, 0x88, 0xC6, 0xFA}));
}

TEST(LevelRunsTest, OneValueIsARun) {
  EXPECT_EQ(Encoded(std::vector<uint32_t>(300, 1), 1), (std::vector<uint8_t>{0xD8, 0x04, 1}));
  EXPECT_EQ(Encoded(std::vector<uint32_t>(8, 0x1234), 13), (std::vector<uint8_t>{16, 0x34, 0x12}));
}

TEST(LevelRunsTest, NothingIsNothing) { EXPECT_TRUE(Encoded({}, 5).empty()); }

TEST(LevelRunsTest, ReadsBackWhateverTheRunsAre) {
  uint32_t random = 1;
  for (const int bits : {1, 2, 7, 8, 9, 17, 31, 32}) {
    for (size_t count = 1; count < 200; count += 7) {
      std::vector<uint32_t> values;
      while (values.size() < count) {
        random = random * 1664525 + 1013904223;
        const uint32_t value = bits == 32 ? random : random >> 3 & ((1u << bits) - 1);
        values.insert(values.end(), random % 3 == 0 ? 1 + (random >> 8) % 30 : 1, value);
      }
      EXPECT_EQ(Decoded(Encoded(values, bits), bits, values.size()), values) << bits;
    }
  }
}

TEST(LevelRunsTest, BitsOfTheLargest) {
  EXPECT_EQ(BitsFor(0), 0);
  EXPECT_EQ(BitsFor(1), 1);
  EXPECT_EQ(BitsFor(8), 4);
  EXPECT_EQ(BitsFor(UINT32_MAX), 32);
}

}  // namespace
}  // namespace batchlight
