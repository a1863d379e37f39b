#include "analysis/counters/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace batchlight {
namespace {

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(CounterMetrics, EverySetHasMetricsAndEveryMetricIsOfASet) {
  for (const CounterSet& set : CounterSets()) {
    const auto wanted = MetricsOf({std::string(set.key)});
    ASSERT_TRUE(wanted.ok());
    EXPECT_GE(wanted->always.size(), 1u);
    EXPECT_GE(wanted->others.size(), 8u) << set.key;
  }
  const auto full = MetricsOf({"full"});
  for (const CounterMetric& metric : CounterMetrics()) {
    EXPECT_TRUE(metric.sets == "timeline" || Has(full->others, metric.name) ||
                Has(full->always, metric.name))
        << metric.name;
    EXPECT_FALSE(metric.title.empty()) << metric.name;
    for (const std::string_view name : {metric.name}) {
      EXPECT_NE(name.find("__"), name.npos) << name;
      EXPECT_NE(name.find('.'), name.npos) << name << ": a roll-up belongs to it";
    }
  }
}

TEST(CounterMetrics, ANameStandsOnce) {
  std::vector<std::string_view> names;
  for (const CounterMetric& metric : CounterMetrics()) names.push_back(metric.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(CounterMetrics, SetsAndNamesTogether) {
  const auto wanted =
      MetricsOf({"essentials", "dram__bytes_read.sum", "lts__t_requests.sum", "memory"});
  ASSERT_TRUE(wanted.ok());
  EXPECT_EQ(std::count(wanted->others.begin(), wanted->others.end(), "dram__bytes_read.sum"), 1);
  EXPECT_TRUE(Has(wanted->others, "lts__t_requests.sum"));
}

TEST(CounterMetrics, AnUnknownSet) {
  const auto wanted = MetricsOf({"essential"});
  ASSERT_FALSE(wanted.ok());
  EXPECT_EQ(wanted.status().exit_code(), 2);
  EXPECT_EQ(wanted.status().message(),
            "no set of counters is called essential; did you mean essentials?");
}

}  // namespace
}  // namespace batchlight
