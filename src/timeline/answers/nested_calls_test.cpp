// Times of a name, where calls of it lie within each other.
#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"
#include "timeline/answers/events_in_range.h"
#include "timeline/answers/name_search.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

using testing::StoreBuilder;

// aten::linear within aten::linear, with a call in between; the same name at the same time on
// another thread.
Store NestedCalls() {
  StoreBuilder build;
  const ProcessId process = build.Process(100, "train.py");
  const ThreadId main = build.Thread(process);
  const ThreadId other = build.Thread(process);
  build.Operator(main, "aten::linear", 0, 100);
  build.Operator(main, "aten::matmul", 10, 90);
  build.Operator(main, "aten::linear", 20, 80);
  build.Operator(main, "aten::linear", 200, 230);
  build.Operator(other, "aten::linear", 50, 70);
  build.Range(main, "aten::linear", 0, 100);
  return build.Build();
}

TEST(NestedCalls, CountOnceInSumsOfAName) {
  const Store store = NestedCalls();
  const auto timeline = BuildTimeline(store, {.derived = false});
  const std::vector<NameMatch> sums =
      SumByName(*timeline, EventFilter::OfText(*timeline, "linear").In("operator_calls"));
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].count, 4u);
  EXPECT_EQ(sums[0].total_ns, 100 + 30 + 20);
  EXPECT_EQ(sums[0].lengths_ns, 100 + 60 + 30 + 20);
  EXPECT_EQ(sums[0].longest_ns, 100);
}

TEST(NestedCalls, CountOnceInAStretchOfTime) {
  const Store store = NestedCalls();
  const auto timeline = BuildTimeline(store, {.derived = false});
  const auto total_of = [&](int64_t from_ns, int64_t to_ns, int64_t events) {
    for (const std::vector<Cell>& row : EventsInRange(*timeline, from_ns, to_ns).rows) {
      if (row[0] != Cell{"Operator call"} || row[1] != Cell{"aten::linear"}) continue;
      EXPECT_EQ(row[2], Cell{events});
      return std::get<int64_t>(row[3]);
    }
    return int64_t{-1};
  };
  EXPECT_EQ(total_of(0, 300, 4), 100 + 30 + 20);
  // Both are open when it begins.
  EXPECT_EQ(total_of(40, 60, 3), 20 + 10);
  EXPECT_EQ(total_of(85, 210, 2), 15 + 10);
}

// As a damaged recording has them: the definition of a string is lost. A list by numbers of names
// had 16 GiB for them.
TEST(EventsInRange, OnesWithoutANameHaveARow) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Operator(main, "aten::mm", 0, 50);
  build.Operator(main, "aten::add", 60, 100);
  build.Operator(main, "aten::mul", 110, 120);
  Store store = build.Build();
  store.operator_calls.name[0] = store.operator_calls.name[2] = StringId::None();
  const auto timeline = BuildTimeline(store, {.derived = false});
  const ResultTable table = EventsInRange(*timeline, 0, 200);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(std::get<std::string>(table.rows[0][1]), "");
  EXPECT_EQ(std::get<int64_t>(table.rows[0][2]), 2);
  EXPECT_EQ(std::get<int64_t>(table.rows[0][3]), 60);
}

}  // namespace
}  // namespace batchlight::timeline
