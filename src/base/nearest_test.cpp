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

TEST(NearestFew, PutsTheClosestFirstAndLeavesStrangersOut) {
  const std::vector<std::string_view> names = {"nvtx_sum", "osrt_sum", "cuda_gpu_kern_sum",
                                               "wddm_queue_sum"};
  const auto nearest = NearestFew("nvtx_smu", names);
  ASSERT_FALSE(nearest.empty());
  EXPECT_EQ(nearest[0], "nvtx_sum");
  EXPECT_EQ(NearestFew("kern_sum", names)[0], "cuda_gpu_kern_sum");
  EXPECT_TRUE(NearestFew("xyzzyxyzzy", names).empty());
  EXPECT_TRUE(NearestFew("nothere", {"re"}).empty());
}

TEST(DidYouMean, IsASentence) {
  EXPECT_EQ(DidYouMean({}), "");
  EXPECT_EQ(DidYouMean({"a", "b", "c"}), "; did you mean a, b or c?");
}

}  // namespace
}  // namespace batchlight
