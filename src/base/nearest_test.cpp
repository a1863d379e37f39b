#include "base/nearest.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

const std::vector<std::string_view> kKnown = {"--output", "--trace", "--capture-range",
                                              "--capture-range-end"};

TEST(Nearest, FindsTypos) {
  EXPECT_EQ(Nearest("--ouptut", kKnown), "--output");
  EXPECT_EQ(Nearest("--tarce", kKnown), "--trace");
  EXPECT_EQ(Nearest("--capture-range-ende", kKnown), "--capture-range-end");
}

TEST(Nearest, FindsBeginnings) { EXPECT_EQ(Nearest("--captu", kKnown), "--capture-range"); }

TEST(Nearest, SaysNothingWhenNothingIsClose) {
  EXPECT_EQ(Nearest("--frobnicate", kKnown), "");
  EXPECT_EQ(Nearest("", kKnown), "");
}

}  // namespace
}  // namespace batchlight
