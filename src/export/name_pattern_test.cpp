#include "export/name_pattern.h"

#include <gtest/gtest.h>

#include <chrono>

namespace batchlight {
namespace {

using Kind = NamePattern::Kind;

std::string Times(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

std::string ErrorOf(const std::string& text, Kind kind = Kind::kExtended) {
  const Result<NamePattern> made = NamePattern::Make("--kernel", text, kind);
  if (made.ok()) return "";
  EXPECT_EQ(made.status().kind(), ErrorKind::kUsage);
  EXPECT_LT(made.status().message().size(), 250u);
  return made.status().message();
}

TEST(NamePattern, MatchesAnywhere) {
  const NamePattern extended =
      NamePattern::Make("-k", "gemm|(conv[)2+]{1,2}d)", Kind::kExtended).value();
  EXPECT_TRUE(extended.Matches("sm90_xmma_gemm_f32"));
  EXPECT_TRUE(extended.Matches("conv2d"));
  EXPECT_FALSE(extended.Matches("CONV2D"));
  EXPECT_FALSE(extended.Matches("relu"));
  const NamePattern basic =
      NamePattern::Make("--tables", "osrt\\(api\\)\\{0,1\\}|x", Kind::kBasicInAnyCase).value();
  EXPECT_TRUE(basic.Matches("OSRTAPI|X"));
  EXPECT_FALSE(basic.Matches("x"));
}

TEST(NamePattern, SaysWhatIsNoExpression) {
  EXPECT_EQ(ErrorOf("(gemm").rfind("--kernel: \"(gemm\" is not a regular expression: ", 0), 0u);
  EXPECT_NE(ErrorOf("a{2,1}"), "");
}

// Each of these ended by a signal (nesting), or had not ended after 15 s.
TEST(NamePattern, RefusesWhatTheCLibraryCannotBear) {
  EXPECT_NE(ErrorOf(Times("(", 30000) + "a" + Times(")", 30000)).find("8000 char"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Times("(", 3000) + "a" + Times(")", 3000)).find("within each"),
            std::string::npos);
  EXPECT_NE(
      ErrorOf(Times("\\(", 60) + "a" + Times("\\)", 60), Kind::kBasicInAnyCase).find("within each"),
      std::string::npos);
  for (const char* text : {"(.{1,32767}){1,32767}", "((((a{1,100}){1,100}){1,100}){1,100})",
                           "a{99999999999999999999}", "a{5000,}", "a{12}{12}{12}", "(a{40}){40}",
                           "[)]{2000}", "((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+"}) {
    EXPECT_NE(ErrorOf(text).find("repeats more than 1000"), std::string::npos) << text;
  }
  EXPECT_NE(ErrorOf("\\(a\\{40\\}\\)\\{40\\}", Kind::kBasicInAnyCase).find("repeats"),
            std::string::npos);
  EXPECT_NE(ErrorOf("(.*)(.*)(.*)(.*)(.*)\\1\\2\\3\\4\\5x").find("refers back"), std::string::npos);
}

// What a user writes, with the other kind's signs as plain letters.
TEST(NamePattern, TakesWhatMeansNothing) {
  EXPECT_EQ(ErrorOf(Times("void at::native::vectorized_elementwise_kernel<4, x>", 100)), "");
  EXPECT_EQ(ErrorOf("\\(\\{5000\\}[[:alpha:](]"), "");
  EXPECT_EQ(ErrorOf(Times("(", 60) + "a{5000}" + Times(")", 60), Kind::kBasicInAnyCase), "");
  EXPECT_EQ(ErrorOf(".{1,900}"), "");
}

TEST(NamePattern, IsCompiledInTime) {
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& text : {Times("a?", 4000), Times(".*", 4000), Times("a|", 3900) + "a",
                                  Times("(", 8) + "a?" + Times("+)", 8), Times("[a-z]?", 1300)}) {
    EXPECT_EQ(ErrorOf(text), "") << text.substr(0, 20);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace
}  // namespace batchlight
