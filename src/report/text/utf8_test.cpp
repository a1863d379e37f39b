#include "report/text/utf8.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(Utf8Test, KeepsWellFormedText) {
  EXPECT_EQ(CleanText("aten::mm µs 層 🎉"), "aten::mm µs 層 🎉");
}

TEST(Utf8Test, ReplacesWhatIsNoCharacter) {
  EXPECT_EQ(CleanText("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(CleanText("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");      // overlong NUL
  EXPECT_EQ(CleanText("\xED\xA0\x80").size(), 9u);                   // surrogate
  EXPECT_EQ(CleanText("\xF4\x90\x80\x80").size(), 12u);              // above U+10FFFF
  EXPECT_EQ(CleanText("ok\xE2\x80"), "ok\xEF\xBF\xBD\xEF\xBF\xBD");  // cut in the middle
}

TEST(Utf8Test, ControlCharactersBecomeSpaces) {
  EXPECT_EQ(CleanText(std::string_view("a\nb\tc\x1b[31m\0d", 12)), "a b c [31m d");
}

TEST(Utf8Test, ElisionCountsCharactersAndKeepsBothEnds) {
  EXPECT_EQ(ElideMiddle("short", 5), "short");
  EXPECT_EQ(ElideMiddle("encoder.layers.0.linear1", 9), "enco…ear1");
  EXPECT_EQ(ElideMiddle("層層層層層層", 5), "層層…層層");
  EXPECT_EQ(CharacterCount(ElideMiddle(std::string(10'000'000, 'x'), 40)), 40u);
  EXPECT_EQ(ElideMiddle("abcdef", 2), "ab");
}

}  // namespace
}  // namespace batchlight
