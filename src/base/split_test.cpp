#include "base/split.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace batchlight {
namespace {

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(SplitAt("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(SplitAt("", ','), std::vector<std::string_view>{""});
}

TEST(Split, TakesLinesAndWords) {
  std::string_view text = "cpu0  7 8\n\nlast";
  std::string_view line = TakeLine(text);
  EXPECT_EQ(line, "cpu0  7 8");
  EXPECT_EQ(TakeWord(line), "cpu0");
  EXPECT_EQ(TakeWord(line), "7");
  EXPECT_EQ(TakeWord(line), "8");
  EXPECT_EQ(TakeWord(line), "");
  EXPECT_EQ(TakeLine(text), "");
  EXPECT_EQ(TakeLine(text), "last");
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(TakeLine(text), "");
}

TEST(Split, LeavesWhatStandsBehind) {
  std::string_view text = "sub:101-sum";
  EXPECT_EQ(TakeUntil(text, ':'), "sub");
  EXPECT_EQ(TakeUntil(text, '-'), "101");
  EXPECT_EQ(text, "sum");
  std::string_view spaces = "   ";
  EXPECT_EQ(TakeWord(spaces), "");
}

TEST(ReadNumber, WantsAWholeNumberThatFits) {
  int64_t number = 5;
  for (const std::string_view word : {"", "12x", " 12", "99999999999999999999", "x"}) {
    EXPECT_FALSE(ReadNumber(word, number)) << word;
    EXPECT_EQ(number, 5) << word;
  }
  EXPECT_TRUE(ReadNumber("-12", number));
  EXPECT_EQ(number, -12);
  double real = 0;
  EXPECT_TRUE(ReadNumber("2.5", real));
  EXPECT_EQ(real, 2.5);
}

}  // namespace
}  // namespace batchlight
