#include "report/text/base64.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(Base64, OfTheRfc) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, ThereAndBack) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(FromBase64(Base64(bytes)), bytes);
    bytes += static_cast<char>(i * 37);
  }
}

TEST(Base64, RefusesWhatItIsNot) {
  EXPECT_FALSE(FromBase64("Zg="));
  EXPECT_FALSE(FromBase64("Zg!="));
  EXPECT_FALSE(FromBase64("=g=="));
  EXPECT_FALSE(FromBase64("===="));
}

}  // namespace
}  // namespace batchlight
