#include "inject/rt/text.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace batchlight::inject {
namespace {

TEST(Text, BuildsAndSaysWhenItIsFull) {
  char buffer[24];
  Text text(buffer, sizeof buffer);
  EXPECT_TRUE(text.Add("pid ").Add(uint64_t{0}).Add("-").Add(uint64_t{4294967295}).ok());
  EXPECT_STREQ(buffer, "pid 0-4294967295");
  char small[4];
  Text cut(small, sizeof small);
  EXPECT_FALSE(cut.Add("abcd").ok());
  EXPECT_STREQ(small, "abc");
}

TEST(HashBytes, DependsOnEveryByteAndOnTheLength) {
  std::set<uint64_t> hashes;
  size_t count = 0;
  for (size_t n = 0; n < 70; ++n) {
    std::string text(n, 'a');
    hashes.insert(HashBytes(text.data(), n));
    ++count;
    for (size_t i = 0; i < n; ++i) {
      std::string changed = text;
      changed[i] = 'b';
      hashes.insert(HashBytes(changed.data(), n));
      ++count;
    }
  }
  EXPECT_EQ(hashes.size(), count);
}

TEST(EqualPadded, ComparesExactly) {
  for (size_t n = 0; n < 40; ++n) {
    const std::string text(n, 'q');
    std::string padded = text;
    padded.resize((n + 7) / 8 * 8);
    EXPECT_TRUE(EqualPadded(padded.data(), text.data(), n));
    for (size_t i = 0; i < n; ++i) {
      std::string other = text;
      other[i] = 'p';
      EXPECT_FALSE(EqualPadded(padded.data(), other.data(), n));
    }
  }
}

}  // namespace
}  // namespace batchlight::inject
