#include "analysis/numbers/time_span.h"

#include <gtest/gtest.h>

#include "store/tables.h"

namespace batchlight {
namespace {

using Spans = std::vector<TimeSpan>;

Spans Joined() {
  Spans spans;
  for (const auto& [start, end] : {std::pair{0, 10}, {5, 8}, {10, 12}, {20, 30}, {25, 40}}) {
    AddSpan(spans, start, end);
  }
  return spans;
}

TEST(TimeSpan, TouchingAndOverlappingStretchesBecomeOne) {
  EXPECT_EQ(Joined(), (Spans{{0, 12}, {20, 40}}));
}

TEST(TimeSpan, OpenAndEmptyStretchesAreLeftOut) {
  Spans spans;
  AddSpan(spans, 5, 5);
  AddSpan(spans, 6, 3);
  AddSpan(spans, 7, kOpenEnd);
  EXPECT_TRUE(spans.empty());
}

TEST(TimeSpan, AUnionOfSpansInAnyOrder) {
  EXPECT_EQ(UnionOf({{20, 30}, {0, 10}, {5, 12}, {50, 50}, {30, 31}}), (Spans{{0, 12}, {20, 31}}));
  EXPECT_EQ(UniteSpans(Joined(), {{11, 21}, {60, 70}}), (Spans{{0, 40}, {60, 70}}));
  EXPECT_EQ(UniteSpans({}, Joined()), Joined());
}

TEST(TimeSpan, WhatLiesInside) {
  EXPECT_EQ(NsInside(Joined(), 0, 100), 32);
  EXPECT_EQ(NsInside(Joined(), 10, 25), 2 + 5);
  EXPECT_EQ(NsInside(Joined(), 12, 20), 0);
  EXPECT_EQ(NsInside(Joined(), 30, 30), 0);
}

TEST(NsInside, IsTheSameWhereverTheSearchBeganFrom) {
  const std::vector<TimeSpan> spans = {{0, 2}, {5, 9}, {9, 12}, {20, 30}, {31, 32}, {40, 50}};
  for (int64_t start_ns = -1; start_ns < 55; ++start_ns) {
    for (int64_t end_ns = start_ns; end_ns < 55; end_ns += 3) {
      const int64_t expected = NsInside(spans, start_ns, end_ns);
      for (size_t before = 0; before <= spans.size() + 1; ++before) {
        size_t at = before;
        EXPECT_EQ(NsInside(spans, start_ns, end_ns, at), expected) << start_ns << " " << before;
      }
    }
  }
}

TEST(TimeSpan, GapsAreWhatIsLeft) {
  Spans gaps;
  VisitGaps(Joined(), -5, 45, [&](int64_t from, int64_t to) { gaps.push_back({from, to}); });
  EXPECT_EQ(gaps, (Spans{{-5, 0}, {12, 20}, {40, 45}}));
  VisitGaps(Joined(), 22, 38, [&](int64_t, int64_t) { FAIL(); });
}

TEST(TimeSpan, WhatASpanAddsToThoseBefore) {
  CoveredSoFar covered;
  EXPECT_EQ(covered.StartOfNew(0, 10), 0);
  EXPECT_EQ(covered.StartOfNew(5, 8), 10) << "nothing: it ends before";
  EXPECT_EQ(covered.StartOfNew(8, 15), 10);
  EXPECT_EQ(covered.StartOfNew(20, 25), 20);
}

}  // namespace
}  // namespace batchlight
