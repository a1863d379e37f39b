#include "base/json_text.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

std::string Escaped(std::string_view text) {
  std::string json;
  AppendJsonEscaped(text, json);
  return json;
}

TEST(JsonText, EscapesWhatJsonForbids) {
  EXPECT_EQ(Escaped("a\"b\\c\n\t\r"), "a\\\"b\\\\c\\n\\t\\r");
  EXPECT_EQ(Escaped(std::string_view("\0\x1f", 2)), "\\u0000\\u001f");
  EXPECT_EQ(Escaped("Größe 漢 😀"), "Größe 漢 😀");
}

TEST(JsonText, ReplacesBrokenUtf8) {
  EXPECT_EQ(Escaped("a\xff"
                    "b"),
            "a\\ufffdb");
  EXPECT_EQ(Escaped("\xe2\x82"), "\\ufffd\\ufffd");                    // cut short
  EXPECT_EQ(Escaped("\xc0\xaf"), "\\ufffd\\ufffd");                    // overlong
  EXPECT_EQ(Escaped("\xed\xa0\x80").find('\xed'), std::string::npos);  // surrogate
  EXPECT_TRUE(IsValidUtf8("ü"));
  EXPECT_FALSE(IsValidUtf8("\xfc"));
  EXPECT_EQ(ValidUtf8("a\xfc"), "a\xef\xbf\xbd");
}

}  // namespace
}  // namespace batchlight
