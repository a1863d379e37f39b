#include "analysis/stats/duration_summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace batchlight::stats {
namespace {

TEST(RoundDecimal, TiesGoAwayFromZeroAsInSqlite) {
  EXPECT_DOUBLE_EQ(RoundDecimal(8420.25), 8420.3);
  EXPECT_DOUBLE_EQ(RoundDecimal(1022.25), 1022.3);
  EXPECT_DOUBLE_EQ(RoundDecimal(-0.25), -0.3);
  EXPECT_DOUBLE_EQ(RoundDecimal(8420.15), 8420.1);  // the double is a little less
  EXPECT_DOUBLE_EQ(RoundDecimal(0.04), 0.0);
}

TEST(Summarize, AgreesWithTheDefinitions) {
  std::mt19937_64 random(7);
  for (const size_t count : {1u, 2u, 3u, 10u, 1001u}) {
    std::vector<int64_t> values;
    for (size_t i = 0; i < count; ++i) values.push_back(static_cast<int64_t>(random() % 1000000));
    std::vector<int64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    long double total = 0;
    for (const int64_t v : values) total += static_cast<long double>(v);
    const long double mean = total / static_cast<long double>(count);
    long double squares = 0;
    for (const int64_t v : values) {
      squares += (static_cast<long double>(v) - mean) * (static_cast<long double>(v) - mean);
    }
    const double median = static_cast<double>(sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    const Summary summary = Summarize(values);
    EXPECT_EQ(summary.total, static_cast<int64_t>(total));
    EXPECT_EQ(summary.min, sorted.front());
    EXPECT_EQ(summary.max, sorted.back());
    EXPECT_NEAR(summary.mean, static_cast<double>(mean), 0.0501);
    EXPECT_NEAR(summary.median, median, 0.0501);
    const double deviation =
        count < 2 ? 0 : std::sqrt(static_cast<double>(squares) / static_cast<double>(count - 1));
    EXPECT_NEAR(summary.deviation, deviation, 0.0501);
  }
}

TEST(Summarize, NothingAndExtremes) {
  std::vector<int64_t> none;
  EXPECT_EQ(Summarize(none).count, 0);
  std::vector<int64_t> huge(5, int64_t{1} << 62);
  EXPECT_EQ(Summarize(huge).max, int64_t{1} << 62);
}

TEST(Summarize, ASumBeyond64BitsIsTheLargestNumber) {
  std::vector<int64_t> values = {INT64_MAX, INT64_MAX, INT64_MAX, 1};
  const Summary summary = Summarize(values);
  EXPECT_EQ(summary.total, INT64_MAX);
  EXPECT_GT(summary.mean, 6e18);
}

TEST(GroupedValues, KeepsGroupsApart) {
  GroupNumbers numbers;
  GroupedValues values;
  for (uint64_t i = 0; i < 10000; ++i) {
    values.Add(numbers.Of(i % 97 * 1'000'003), static_cast<int64_t>(i));
  }
  const std::vector<Summary> summaries = values.Summarize();
  ASSERT_EQ(summaries.size(), 97u);
  EXPECT_EQ(numbers.keys()[5], 5 * 1'000'003u);
  EXPECT_EQ(summaries[5].min, 5);
  EXPECT_EQ(summaries[5].count, 104);
}

TEST(SummaryRows, LargestTotalFirstThenByLabel) {
  std::vector<Summary> summaries(3);
  summaries[0] = {.total = 5, .count = 1};
  summaries[1] = {.total = 9, .count = 1};
  summaries[2] = {.total = 5, .count = 1};
  const char* names[] = {"z", "m", "a"};
  const RowSource rows =
      SummaryRows("Count", {TextColumn("Name")}, summaries,
                  [&](size_t group, std::vector<Cell>& cells) { cells.back() = names[group]; });
  std::string order;
  std::vector<Cell> cells(rows.columns.size());
  for (size_t row = 0; row < rows.row_count; ++row) {
    rows.fill(row, cells);
    order += std::get<std::string>(cells.back());
  }
  EXPECT_EQ(order, "maz");
}

}  // namespace
}  // namespace batchlight::stats
