#include "cli/engines/work_lines.h"

#include <gtest/gtest.h>

namespace batchlight::cli {
namespace {

TEST(InputWord, ThereAndBack) {
  const SeenInput input{.path = "/run:1/a\nb\xff.batchlight", .bytes = 7, .changed_ns = -3};
  EXPECT_EQ(ReadInputWord(InputWord(input)), input);
  EXPECT_EQ(ReadSeenLine(SeenLine(input)), input);
}

TEST(InputWord, RefusesOthers) {
  for (const char* word : {"", "1", "1:2", "x:2:/a", "1:x:/a", ":1:2:/a"}) {
    EXPECT_FALSE(ReadInputWord(word)) << word;
  }
  for (const char* line : {"", "[]", "{}", R"({"path":"!","bytes":1,"changed_ns":1})",
                           R"({"path":"YQ==","bytes":"1","changed_ns":1})"}) {
    EXPECT_FALSE(ReadSeenLine(line)) << line;
  }
}

TEST(AnswerLine, OfBytes) {
  std::string bytes(100'000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i);
  const std::string line = AnswerLine({.at = 3, .bytes = bytes});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto answer = ReadAnswerLine(line);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->at, 3u);
  ASSERT_TRUE(answer->bytes.ok());
  EXPECT_EQ(answer->bytes.value(), bytes);
}

TEST(AnswerLine, OfAnError) {
  const auto answer = ReadAnswerLine(
      AnswerLine({.at = 0, .sees_other = true, .bytes = InputError("caf\xe9 is cut")}));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->sees_other);
  EXPECT_EQ(answer->bytes.status().kind(), ErrorKind::kInput);
  EXPECT_EQ(answer->bytes.status().message(), "caf\xe9 is cut");
}

TEST(AnswerLine, RefusesOthers) {
  const std::string line = AnswerLine({.at = 0, .bytes = std::string("some bytes")});
  EXPECT_FALSE(ReadAnswerLine(line.substr(0, line.size() / 2)));
  for (const char* text : {"", "a warning of the launcher", "{}", R"({"at":0})",
                           R"({"at":-1,"answer":""})", R"({"at":0,"answer":"AAAA"})"}) {
    EXPECT_FALSE(ReadAnswerLine(text)) << text;
  }
}

}  // namespace
}  // namespace batchlight::cli
