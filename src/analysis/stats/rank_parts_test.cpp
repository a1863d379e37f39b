#include "analysis/stats/rank_parts.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace batchlight::stats {
namespace {

using testing::StoreBuilder;

// A recording of processes with these ranks (-1: unknown), each with a kernel on a GPU of its own;
// the GPUs count downwards.
Store Recording(const std::vector<int32_t>& ranks, const char* source) {
  StoreBuilder build;
  uint32_t pid = 100;
  for (const int32_t rank : ranks) {
    build.Kernel(build.Thread(build.Process(pid++, "train.py", rank)), "k", 10, 20, 30);
  }
  Store store = build.Build();
  for (size_t row = 0; row < store.kernels.size(); ++row) {
    store.kernels.device[row] = static_cast<uint32_t>(10 - store.kernels.process[row].row());
  }
  store.source = source;
  return store;
}

std::vector<int64_t> Ranks(const RankParts& found) {
  std::vector<int64_t> ranks;
  for (const RankPart& part : found.parts) ranks.push_back(part.rank);
  return ranks;
}

using Expected = std::vector<int64_t>;

TEST(RankParts, OneInputOfOneRankIsWhole) {
  const Store one = Recording({3}, "a");
  const Store* const stores[] = {&one};
  const RankParts found = FindRankParts(stores);
  ASSERT_EQ(found.parts.size(), 1u);
  EXPECT_TRUE(found.parts[0].processes.empty());
  EXPECT_TRUE(found.notes.empty());
}

TEST(RankParts, KnownRanksWinOverPlaces) {
  const Store a = Recording({1}, "a"), b = Recording({0}, "b");
  const Store* const stores[] = {&a, &b};
  EXPECT_EQ(Ranks(FindRankParts(stores)), (Expected{1, 0}));
  EXPECT_TRUE(FindRankParts(stores).notes.empty());
}

TEST(RankParts, OfOperatorsAloneSayTheirRank) {
  StoreBuilder build;
  build.Operator(build.Thread(build.Process(7, "train.py", 3)), "aten::mm", 10, 20);
  const Store gloo = build.Build(), other = Recording({0}, "b");
  const Store* const stores[] = {&gloo, &other};
  const RankParts found = FindRankParts(stores);
  EXPECT_EQ(Ranks(found), (Expected{3, 0}));
  EXPECT_TRUE(found.notes.empty()) << found.notes[0];
}

TEST(RankParts, UnknownOnesGetWhatIsLeftAndItIsSaid) {
  const Store a = Recording({-1}, "a"), b = Recording({0}, "b"), c = Recording({-1}, "c");
  const Store* const stores[] = {&a, &b, &c};
  const RankParts found = FindRankParts(stores);
  EXPECT_EQ(Ranks(found), (Expected{1, 0, 2}));
  EXPECT_EQ(found.notes, (std::vector<std::string>{"a does not say the rank: taken as rank 1",
                                                   "c does not say the rank: taken as rank 2"}));
}

TEST(RankParts, TheSameRankTwiceIsNumberedByPlace) {
  const Store a = Recording({5}, "a"), b = Recording({5}, "b");
  const Store* const stores[] = {&a, &b};
  const RankParts found = FindRankParts(stores);
  EXPECT_EQ(Ranks(found), (Expected{0, 1}));
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_NE(found.notes[0].find("rank 5"), std::string::npos);
}

TEST(RankParts, SeveralRanksInOneInput) {
  const Store both = Recording({1, 0, 1}, "a"), other = Recording({7}, "b");
  const Store* const stores[] = {&both, &other};
  const RankParts found = FindRankParts(stores);
  EXPECT_EQ(Ranks(found), (Expected{0, 1, 7}));
  EXPECT_EQ(found.parts[0].processes, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(found.parts[1].processes, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(found.parts[2].input, 1u);
}

TEST(RankParts, ProcessesOfOneInputWithoutRanksAreInOrderOfTheirGpu) {
  const Store both = Recording({-1, -1}, "a");
  const Store* const stores[] = {&both};
  const RankParts found = FindRankParts(stores);
  EXPECT_EQ(Ranks(found), (Expected{0, 1}));
  EXPECT_EQ(found.parts[0].processes, (std::vector<bool>{false, true}));
  EXPECT_EQ(found.notes.size(), 2u);
  EXPECT_NE(found.notes[0].find("process 101"), std::string::npos);
}

TEST(RankParts, AProcessBesideRanksHasNone) {
  const Store three = Recording({0, -1, 1}, "a");
  const Store* const stores[] = {&three};
  EXPECT_EQ(Ranks(FindRankParts(stores)), (Expected{0, 1, -1}));
}

}  // namespace
}  // namespace batchlight::stats
