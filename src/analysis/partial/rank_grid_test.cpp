#include "analysis/partial/rank_grid.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

// All lines of an axis of `size` with neighbours `stride` apart, among `ranks`.
void AddLines(std::vector<RankGroup>& groups, int32_t ranks, int32_t stride, int32_t size,
              bool sends_only = false) {
  for (int32_t first = 0; first < ranks; ++first) {
    if (first / stride % size != 0) continue;
    RankGroup& group = groups.emplace_back();
    group.sends_only = sends_only;
    for (int32_t i = 0; i < size; ++i) group.ranks.push_back(first + i * stride);
  }
}

TEST(RankGrid, PlacesCountWithTheLastAxisFastest) {
  const RankGrid grid = ParseGrid("dp=2,pp=3,tp=4").value();
  EXPECT_EQ(grid.size(), 24u);
  EXPECT_EQ(grid.PlaceText(0), "dp 0, pp 0, tp 0");
  EXPECT_EQ(grid.PlaceText(23), "dp 1, pp 2, tp 3");
  EXPECT_EQ(grid.PlaceText(14), "dp 1, pp 0, tp 2");
  EXPECT_EQ(grid.Text(), "dp=2,pp=3,tp=4");
  EXPECT_EQ(grid.AxesOf(std::vector<int32_t>{0, 1, 2, 3}), "tp");
  EXPECT_EQ(grid.AxesOf(std::vector<int32_t>{0, 12}), "dp");
  EXPECT_EQ(grid.AxesOf(std::vector<int32_t>{0, 1, 12, 13}), "dp x tp");
  EXPECT_EQ(grid.AxesOf(std::vector<int32_t>{5}), "");
}

TEST(RankGrid, WhatIsNoGridIsSaid) {
  for (const char* text : {"", "dp", "dp=", "dp=0", "=4", "dp=4,", "dp=4,,tp=2", "dp=2,dp=2",
                           "dp=x", "dp=99999999999", "dp=65536,tp=65536", "dp=-1"}) {
    EXPECT_FALSE(ParseGrid(text).ok()) << text;
  }
}

TEST(RankGrid, IsFoundFromCommunicators) {
  std::vector<RankGroup> groups;
  AddLines(groups, 64, 1, 64);        // all
  AddLines(groups, 64, 1, 4);         // tensor parallel
  AddLines(groups, 64, 4, 4);         // data parallel
  AddLines(groups, 64, 16, 4, true);  // stages
  const auto grid = FindGrid(groups, 64);
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->Text(), "pp=4,dp=4,tp=4");
}

TEST(RankGrid, IsFoundWhereStagesTalkInPairs) {
  std::vector<RankGroup> groups;
  AddLines(groups, 16, 1, 2);
  for (int32_t rank = 0; rank + 2 < 16; ++rank) {
    if (rank / 2 % 4 < 3) groups.push_back({{rank, rank + 2}, true});
  }
  AddLines(groups, 16, 8, 2);
  const auto grid = FindGrid(groups, 16);
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->Text(), "dp=2,pp=4,tp=2");
}

TEST(RankGrid, IsNotMadeUp) {
  std::vector<RankGroup> groups;
  AddLines(groups, 8, 1, 8);
  EXPECT_FALSE(FindGrid(groups, 8).has_value());  // one group of all: nothing to divide
  groups.push_back({{0, 1, 3}, false});
  EXPECT_FALSE(FindGrid(groups, 8).has_value());
  EXPECT_FALSE(FindGrid({}, 8).has_value());
  groups.push_back({{0, 1, 2}, false});  // 8 ranks are no threes
  EXPECT_FALSE(FindGrid(groups, 8).has_value());
}

// A file may claim any number: a list of half a billion stages takes 20 GB.
TEST(RankGrid, OfMoreRanksThanThereAreAnywhereIsNotFound) {
  const std::vector<RankGroup> groups = {{{0, 1}, false}, {{0, 2}, true}, {{1, 3}, true}};
  EXPECT_TRUE(FindGrid(groups, 1 << 14).has_value());
  EXPECT_FALSE(FindGrid(groups, 1 << 30).has_value());
}

}  // namespace
}  // namespace batchlight
