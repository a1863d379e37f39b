#include "store/interval_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "store/tables.h"

namespace batchlight {
namespace {

struct Columns {
  std::vector<ThreadId> thread;
  std::vector<int64_t> start;
  std::vector<int64_t> end;
  void Add(size_t on_thread, int64_t from, int64_t to) {
    thread.push_back(ThreadId::At(on_thread));
    start.push_back(from);
    end.push_back(to);
  }
};

TEST(ThreadSpans, FindsTheRowsOfEachThread) {
  Columns columns;
  for (int i = 0; i < 1000; ++i) columns.Add(1, i, i + 1);
  columns.Add(3, 0, 1);
  const ThreadSpans spans(columns.thread);
  EXPECT_TRUE(spans.Of(ThreadId::At(0)).empty());
  EXPECT_EQ(spans.Of(ThreadId::At(1)).size(), 1000u);
  EXPECT_TRUE(spans.Of(ThreadId::At(2)).empty());
  EXPECT_EQ(spans.Of(ThreadId::At(3)).begin, 1000u);
  EXPECT_EQ(spans.Of(ThreadId::At(3)).end, 1001u);
  EXPECT_TRUE(spans.Of(ThreadId::At(99)).empty());
  EXPECT_TRUE(spans.Of(ThreadId::None()).empty());
}

TEST(IntervalIndex, WalksFromTheInnermostOutwards) {
  Columns columns;
  columns.Add(0, 0, 100);
  columns.Add(0, 10, 50);
  columns.Add(0, 20, 30);
  columns.Add(0, 60, 70);
  columns.Add(1, 0, 5);
  const IntervalIndex index(columns.thread, columns.start, columns.end);
  const ThreadId thread = ThreadId::At(0);
  EXPECT_EQ(index.Innermost(thread, 25), 2u);
  EXPECT_EQ(index.Outer(2, 25), 1u);
  EXPECT_EQ(index.Outer(1, 25), 0u);
  EXPECT_EQ(index.Outer(0, 25), kNoRow);
  EXPECT_EQ(index.Innermost(thread, 30), 1u) << "an end is exclusive";
  EXPECT_EQ(index.Innermost(thread, 55), 0u);
  EXPECT_EQ(index.Innermost(thread, 100), kNoRow);
  EXPECT_EQ(index.Innermost(ThreadId::At(1), 5), kNoRow);
  EXPECT_EQ(index.Innermost(ThreadId::At(7), 5), kNoRow);
}

TEST(IntervalIndex, LeavesOutSkippedRows) {
  Columns columns;
  columns.Add(0, 0, 100);
  columns.Add(0, 10, 50);
  const IntervalIndex index(columns.thread, columns.start, columns.end,
                            [](uint32_t row) { return row == 1; });
  EXPECT_EQ(index.Innermost(ThreadId::At(0), 20), 0u);
}

// Against a search over all rows, for intervals that overlap in every way.
TEST(IntervalIndex, AgreesWithASearchOverAllRows) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::pair<int64_t, int64_t>> intervals;
    for (int i = 0; i < 60; ++i) {
      const int64_t start = random() % 200;
      intervals.emplace_back(start, start + 1 + random() % 60);
    }
    std::sort(intervals.begin(), intervals.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    Columns columns;
    for (const auto& [start, end] : intervals) columns.Add(2, start, end);
    const IntervalIndex index(columns.thread, columns.start, columns.end);
    for (int64_t time = 0; time < 270; ++time) {
      uint32_t found = index.Innermost(ThreadId::At(2), time);
      for (uint32_t row = 60; row-- > 0;) {
        if (columns.start[row] > time || columns.end[row] <= time) continue;
        ASSERT_EQ(found, row) << "round " << round << " time " << time;
        found = index.Outer(found, time);
      }
      ASSERT_EQ(found, kNoRow);
    }
  }
}

TEST(IntervalIndex, AsksInAnyOrderFindTheSame) {
  std::mt19937 random(5);
  Columns columns;
  for (size_t thread = 0; thread < 3; ++thread) {
    int64_t now = 0;
    for (int i = 0; i < 300 * static_cast<int>(thread); ++i) {
      now += static_cast<int64_t>(random() % 4);  // of several that start together too
      columns.Add(thread, now, now + static_cast<int64_t>(random() % 30));
    }
  }
  const IntervalIndex index(columns.thread, columns.start, columns.end,
                            [](uint32_t row) { return row % 7 == 0; });
  std::vector<uint32_t> at(4, kNoRow);
  std::vector<int64_t> times(4, -5);
  for (int i = 0; i < 20'000; ++i) {
    const size_t thread = random() % 4;
    // Mostly a little later, at times far away or earlier.
    times[thread] += random() % 50 == 0 ? static_cast<int64_t>(random() % 800) - 500
                                        : static_cast<int64_t>(random() % 6) - 1;
    if (times[thread] > 1'000) times[thread] = -5;
    const ThreadId id = ThreadId::At(thread);
    ASSERT_EQ(index.Innermost(id, times[thread], at[thread]), index.Innermost(id, times[thread]))
        << "thread " << thread << " at " << times[thread];
  }
}

// Moments at, before and behind starts that crowd, lie far apart, are equal, or are as early and
// late as there are.
TEST(IntervalIndex, FindsTheNextStartHoweverStartsAreSpread) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    Columns columns;
    std::vector<int64_t> starts;
    if (round % 4 == 1) starts = {INT64_MIN / 2, INT64_MAX / 2};
    if (round % 4 == 2) starts.assign(40, 5);
    for (int i = 0; i < 20 * round; ++i) {
      starts.push_back(static_cast<int64_t>(random() >> (2 + random() % 60)));
    }
    std::sort(starts.begin(), starts.end());
    columns.Add(0, 3, 4);
    for (const int64_t start : starts) columns.Add(1, start, start + 1);
    const IntervalIndex index(columns.thread, columns.start, columns.end);
    std::vector<int64_t> moments = {INT64_MIN, -1, 0, 1, INT64_MAX - 1};
    for (const int64_t start : starts) moments.insert(moments.end(), {start - 1, start, start + 1});
    for (const int64_t moment : moments) {
      const auto next = std::upper_bound(starts.begin(), starts.end(), moment);
      const IntervalIndex::Look look = index.LookAt(ThreadId::At(1), moment);
      ASSERT_EQ(look.next_start_ns, next == starts.end() ? kOpenEnd : *next);
      const bool inside = next != starts.begin() && *(next - 1) == moment;
      ASSERT_EQ(look.innermost, index.Innermost(ThreadId::At(1), moment));
      ASSERT_EQ(look.innermost, inside ? static_cast<uint32_t>(next - starts.begin()) : kNoRow);
    }
    EXPECT_EQ(index.LookAt(ThreadId::At(0), 2).next_start_ns, 3);
    EXPECT_EQ(index.LookAt(ThreadId::At(0), 3).next_start_ns, kOpenEnd);
    EXPECT_EQ(index.LookAt(ThreadId::At(2), 0).next_start_ns, kOpenEnd);
  }
}

}  // namespace
}  // namespace batchlight
