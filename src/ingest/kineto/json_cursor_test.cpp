#include "ingest/kineto/json_cursor.h"

#include <gtest/gtest.h>

#include <vector>

namespace batchlight {
namespace {

TEST(JsonCursor, WalksMembersAndElements) {
  JsonCursor cursor(R"( { "a" : [1, -2.5e3 , "x\"y"], "b":{"c":[{}]},"d" : null } )");
  ASSERT_TRUE(cursor.Expect('{'));
  bool first = true;
  std::string_view key;
  std::vector<std::string> found;
  while (cursor.NextMember(first, &key)) {
    std::string_view value;
    ASSERT_TRUE(cursor.Value(&value));
    found.push_back(std::string(key) + "=" + std::string(value));
  }
  EXPECT_TRUE(cursor.ok());
  EXPECT_TRUE(cursor.AtEnd());
  EXPECT_EQ(found,
            (std::vector<std::string>{R"(a=[1, -2.5e3 , "x\"y"])", R"(b={"c":[{}]})", "d=null"}));
}

TEST(JsonCursor, EveryCutIsEndedNotMalformed) {
  const std::string text = R"({"name": "a long name with \" and \\ in it", "n": [1, {"k": "v"}]})";
  for (size_t size = 0; size < text.size(); ++size) {
    JsonCursor cursor(std::string_view(text).substr(0, size));
    std::string_view value;
    EXPECT_FALSE(cursor.Value(&value)) << size;
    EXPECT_EQ(cursor.state(), JsonCursor::State::kEnded) << size;
  }
}

TEST(JsonCursor, UnquotedGarbageIsMalformed) {
  JsonCursor cursor(R"({"name": "foo"bar"})");
  ASSERT_TRUE(cursor.Expect('{'));
  bool first = true;
  std::string_view key;
  std::string_view value;
  ASSERT_TRUE(cursor.NextMember(first, &key));
  ASSERT_TRUE(cursor.Value(&value));
  EXPECT_FALSE(cursor.NextMember(first, &key));
  EXPECT_EQ(cursor.state(), JsonCursor::State::kMalformed);
}

TEST(UnescapeJson, ReplacesEscapes) {
  EXPECT_EQ(UnescapeJson(R"(a\"b\\c\/d\n\t\u00e9\ud83d\ude00)"), "a\"b\\c/d\n\t\u00e9\U0001F600");
  EXPECT_EQ(UnescapeJson(R"(\ud83d \q \u12)"), "\xef\xbf\xbd \\q \\u12");
  EXPECT_EQ(UnescapeJson("end\\"), "end\\");
}

}  // namespace
}  // namespace batchlight
