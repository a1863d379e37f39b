#include "timeline/rows/event_row.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "timeline/rows/lanes.h"

namespace batchlight::timeline {
namespace {

// Events of one row, and the same in a store's columns.
struct Row {
  std::vector<int64_t> start, end;
  std::vector<StringId> name;
  Events events;
  EventRow row;

  void Add(int64_t start_ns, int64_t end_ns) {
    start.push_back(start_ns);
    end.push_back(end_ns);
    name.push_back(StringId::At(start.size() % 7));
  }
  void Finish() {
    const uint32_t first = events.Add({.key = "kernels",
                                       .title = "Kernel",
                                       .start_ns = start.data(),
                                       .end_ns = end.data(),
                                       .name = name.data(),
                                       .rows = static_cast<uint32_t>(start.size())});
    events.SetSpan();
    for (uint32_t i = 0; i < start.size(); ++i) row.Add(events, first + i);
    row.Summarize();
  }
};

Row RandomRow(uint32_t seed, size_t count) {
  Row made;
  std::mt19937 random(seed);
  int64_t now_ns = 1000;
  for (size_t i = 0; i < count; ++i) {
    now_ns += random() % 3 == 0 ? random() % 200 : 0;
    const int64_t length_ns = random() % 50 == 0 ? random() % 5000 : random() % 30;
    made.Add(now_ns, now_ns + length_ns);
    now_ns += length_ns;
  }
  made.Finish();
  return made;
}

// A summary of 16, 128, 1,024, ... events begins here that does not end before the limit.
bool IsCutSummary(const Row& made, size_t first, int64_t limit_ns) {
  for (size_t size = 16; first % size == 0 && first + size <= made.start.size(); size *= 8) {
    if (made.events.End(static_cast<uint32_t>(first + size - 1)) >= limit_ns) return true;
  }
  return false;
}

// What the design says, event by event.
std::vector<RowItem> BruteForce(const Row& made, int64_t from_ns, int64_t to_ns, int64_t step_ns) {
  std::vector<RowItem> items;
  bool run = false;  // the last item may take more
  for (size_t i = 0; i < made.start.size(); ++i) {
    const int64_t start_ns = made.start[i];
    const int64_t end_ns = std::max(start_ns, made.events.End(static_cast<uint32_t>(i)));
    if ((end_ns <= from_ns && start_ns < from_ns) || start_ns >= to_ns) continue;
    const int64_t length_ns = end_ns - start_ns;
    const int64_t step_end_ns = run ? items.back().start_ns + step_ns : 0;
    const bool early = run && items.back().end_ns >= step_end_ns - step_ns / 4 &&
                       IsCutSummary(made, i, std::min(to_ns, step_end_ns));
    if (!run || length_ns >= step_ns || start_ns >= step_end_ns || early) {
      items.push_back({.start_ns = start_ns});
    }
    run = length_ns < step_ns;
    RowItem& item = items.back();
    item.end_ns = end_ns;
    ++item.count;
    item.busy_ns += static_cast<double>(length_ns);
    if (length_ns <= item.longest_ns) continue;
    item.longest_ns = length_ns;
    item.longest = static_cast<uint32_t>(i);
  }
  return items;
}

void ExpectLikeBruteForce(const Row& made, int64_t from_ns, int64_t to_ns, int64_t step_ns) {
  std::vector<RowItem> items;
  made.row.VisitItems(made.events, from_ns, to_ns, step_ns, [&](const RowItem& item) {
    items.push_back(item);
    return true;
  });
  const std::vector<RowItem> expected = BruteForce(made, from_ns, to_ns, step_ns);
  ASSERT_EQ(items.size(), expected.size()) << from_ns << " " << to_ns << " " << step_ns;
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(items[i].start_ns, expected[i].start_ns);
    EXPECT_EQ(items[i].end_ns, expected[i].end_ns);
    EXPECT_EQ(items[i].count, expected[i].count);
    EXPECT_EQ(items[i].longest, expected[i].longest);
    EXPECT_NEAR(items[i].busy_ns, expected[i].busy_ns, 1e-5 * expected[i].busy_ns);
  }
}

TEST(EventRow, IsLikeBruteForceAtEveryZoom) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const Row made = RandomRow(seed, 3000);
    const int64_t end_ns = made.events.run_end_ns();
    std::mt19937 random(seed + 100);
    for (int64_t step_ns = 1; step_ns < 4 * end_ns; step_ns *= 2) {
      ExpectLikeBruteForce(made, 0, end_ns + 1, step_ns);
      const auto from_ns = static_cast<int64_t>(random() % static_cast<uint64_t>(end_ns));
      const auto to_ns = from_ns + static_cast<int64_t>(random() % 10000);
      ExpectLikeBruteForce(made, from_ns, to_ns, step_ns);
    }
  }
}

// Around the sizes of the summaries.
TEST(EventRow, HasEveryEventWhereSummariesEnd) {
  for (const size_t count : {0, 1, 15, 16, 17, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 1041}) {
    const Row made = RandomRow(7, count);
    uint64_t events = 0;
    made.row.VisitItems(made.events, INT64_MIN / 4, INT64_MAX / 4, int64_t{1} << 40,
                        [&](const RowItem& item) {
                          events += item.count;
                          return true;
                        });
    EXPECT_EQ(events, count);
  }
}

// The first events of a row and others after them: as if all had been added one by one.
TEST(EventRow, GoesOnFromAnother) {
  for (const size_t count : {0, 1, 15, 16, 17, 32, 127, 128, 129, 1023, 1024, 1025, 1041, 2999}) {
    Row made = RandomRow(3, 3000);
    EventRow row;
    row.TakeFirst(made.events, made.row, count);
    for (size_t i = count; i < made.row.refs().size(); ++i) {
      row.Add(made.events, made.row.refs()[i]);
    }
    row.Summarize();
    made.row = row;
    const int64_t end_ns = made.events.run_end_ns();
    for (int64_t step_ns = 1; step_ns < 4 * end_ns; step_ns *= 4) {
      ExpectLikeBruteForce(made, 0, end_ns + 1, step_ns);
    }
  }
}

TEST(EventRow, StopsWhenToldTo) {
  const Row made = RandomRow(1, 1000);
  size_t seen = 0;
  made.row.VisitItems(made.events, 0, INT64_MAX / 4, 1, [&](const RowItem&) { return ++seen < 3; });
  EXPECT_EQ(seen, 3u);
}

TEST(EventRow, ShowsWhatIsOpenToTheEndOfTheRun) {
  Row made;
  made.Add(10, 20);
  made.Add(30, kOpenEnd);
  made.Add(90, 100);  // on another row in truth; it sets the end of the run
  made.Finish();
  EXPECT_EQ(made.events.End(1), 100);
  EXPECT_TRUE(made.events.IsOpen(1));
  EXPECT_FALSE(made.events.IsOpen(0));
}

// 4 bytes for the reference and under 2 for the summaries.
TEST(EventRow, CostsAtMostSixBytesAnEvent) {
  const Row made = RandomRow(3, 100'000);
  EXPECT_LE(made.row.resident_bytes(), 6u * 100'000u);
}

}  // namespace
}  // namespace batchlight::timeline
