#include "timeline/rows/counter_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace batchlight::timeline {
namespace {

TEST(CounterRow, IsLikeBruteForceAtEveryZoom) {
  std::mt19937 random(5);
  CounterRow row;
  std::vector<std::pair<int64_t, double>> samples;
  int64_t now_ns = 100;
  for (int i = 0; i < 3000; ++i) {
    now_ns += 1 + random() % 50;
    samples.emplace_back(now_ns, random() % 1000);
    row.Add(samples.back().first, samples.back().second);
  }
  row.Summarize();
  for (int64_t step_ns = 1; step_ns < 4 * now_ns; step_ns *= 2) {
    const auto from_ns = static_cast<int64_t>(random() % 1000);
    const int64_t to_ns = now_ns - static_cast<int64_t>(random() % 1000);
    std::vector<CounterItem> expected;
    for (const auto& [time_ns, value] : samples) {
      if (time_ns > to_ns - 1) break;
      if (time_ns <= from_ns) {
        expected.assign(1, {from_ns, value, value, value});
        continue;
      }
      const bool begun = !expected.empty() && expected.back().start_ns > from_ns;
      if (!begun || time_ns >= expected.back().start_ns + step_ns) {
        expected.push_back({time_ns, value, value, value});
        continue;
      }
      CounterItem& item = expected.back();
      item = {item.start_ns, std::min(item.min, value), std::max(item.max, value), value};
    }
    std::vector<CounterItem> items;
    row.VisitItems(from_ns, to_ns, step_ns, [&](const CounterItem& item) {
      items.push_back(item);
      return true;
    });
    ASSERT_EQ(items.size(), expected.size()) << step_ns;
    for (size_t i = 0; i < items.size(); ++i) {
      EXPECT_EQ(items[i].start_ns, expected[i].start_ns);
      EXPECT_EQ(items[i].min, expected[i].min);
      EXPECT_EQ(items[i].max, expected[i].max);
      EXPECT_EQ(items[i].last, expected[i].last);
    }
  }
}

TEST(CounterRow, WhatIsNotKnownIsNoSmallestAndNoLargest) {
  constexpr int kSamples = 1000;
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  CounterRow row;
  for (int i = 0; i < kSamples; ++i) row.Add(i, i % 3 == 0 ? kUnknown : 5 + i % 2);
  row.Add(kSamples, kUnknown);
  row.Summarize();
  EXPECT_EQ(row.most(), 6);
  std::vector<CounterItem> items;
  const auto keep = [&](const CounterItem& item) {
    items.push_back(item);
    return true;
  };
  row.VisitItems(-1, kSamples + 1, 2 * kSamples, keep);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].min, 5);
  EXPECT_EQ(items[0].max, 6);
  EXPECT_TRUE(std::isnan(items[0].last));
  row.VisitItems(kSamples, 2 * kSamples, 1, keep);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_TRUE(std::isnan(items[1].min));
}

TEST(CounterRow, KeepsTheLastOfEqualTimes) {
  CounterRow row;
  row.Add(5, 1);
  row.Add(5, 3);
  row.Summarize();
  EXPECT_EQ(row.size(), 1u);
  EXPECT_EQ(row.value(0), 3);
}

}  // namespace
}  // namespace batchlight::timeline
