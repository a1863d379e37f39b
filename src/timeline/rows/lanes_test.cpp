#include "timeline/rows/lanes.h"

#include <gtest/gtest.h>

#include <random>

namespace batchlight::timeline {
namespace {

TEST(NestedLanes, PutsACallBelowTheOneAroundIt) {
  NestedLanes lanes;
  EXPECT_EQ(lanes.Place(0, 100), 0u);
  EXPECT_EQ(lanes.Place(10, 50), 1u);
  EXPECT_EQ(lanes.Place(20, 30), 2u);
  EXPECT_EQ(lanes.Place(30, 50), 2u);  // begins where its neighbour ends
  EXPECT_EQ(lanes.Place(60, 70), 1u);
  EXPECT_EQ(lanes.Place(100, 110), 0u);
}

TEST(NestedLanes, PutsWhatDoesNotNestIntoAFreeRow) {
  NestedLanes lanes;
  EXPECT_EQ(lanes.Place(0, 10), 0u);
  EXPECT_EQ(lanes.Place(5, 15), 1u);
  EXPECT_EQ(lanes.Place(12, 22), 0u);
  EXPECT_EQ(lanes.Place(20, 30), 1u);  // a chain of overlaps needs two rows, however long
  EXPECT_EQ(lanes.Place(21, 22), 2u);  // inside of both
}

TEST(NestedLanes, KeepsInstantsInTheRowOfWhatFollows) {
  NestedLanes lanes;
  EXPECT_EQ(lanes.Place(5, 5), 0u);
  EXPECT_EQ(lanes.Place(5, 9), 0u);
}

TEST(FreeLanes, TakesTheFirstFreeRow) {
  FreeLanes lanes;
  EXPECT_EQ(lanes.Place(0, 10), 0u);
  EXPECT_EQ(lanes.Place(5, 20), 1u);
  EXPECT_EQ(lanes.Place(6, 7), 2u);
  EXPECT_EQ(lanes.Place(10, 12), 0u);
  EXPECT_EQ(lanes.Place(13, 14), 0u);
}

// In whatever way events overlap, those of a row never do.
template <typename Lanes>
void ExpectNoOverlap(uint32_t seed) {
  std::mt19937 random(seed);
  Lanes lanes;
  std::vector<int64_t> ends;
  int64_t start_ns = 0;
  for (int i = 0; i < 5000; ++i) {
    start_ns += random() % 4;
    const int64_t end_ns = start_ns + static_cast<int64_t>(random() % 40);
    const size_t lane = lanes.Place(start_ns, end_ns);
    if (lane >= ends.size()) ends.resize(lane + 1, INT64_MIN);
    ASSERT_LE(ends[lane], start_ns) << "event " << i;
    ends[lane] = end_ns;
  }
  EXPECT_LE(ends.size(), 200u);
}

TEST(Lanes, HoldNothingTwiceAtATime) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    ExpectNoOverlap<NestedLanes>(seed);
    ExpectNoOverlap<FreeLanes>(seed);
  }
}

}  // namespace
}  // namespace batchlight::timeline
