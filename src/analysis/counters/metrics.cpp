#include "analysis/counters/metrics.h"

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "base/split.h"

namespace batchlight {
namespace {

constexpr auto kSets = std::to_array<CounterSet>({
#define COUNTER_SET(key, question) {#key, question},
#define METRIC(name, title, unit, sets, help)
#include "analysis/counters/metrics.def"
#undef COUNTER_SET
#undef METRIC
});

constexpr auto kMetrics = std::to_array<CounterMetric>({
#define COUNTER_SET(key, question)
#define METRIC(name, title, unit, sets, help) {name, title, unit, sets, help},
#include "analysis/counters/metrics.def"
#undef COUNTER_SET
#undef METRIC
});

constexpr std::string_view kAlways = "always";
constexpr std::string_view kFull = "full";
constexpr std::string_view kTimeline = "timeline";

void AddOnce(std::vector<std::string>& names, std::string_view name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

}  // namespace

bool CounterMetric::IsOf(std::string_view set) const {
  const std::vector<std::string_view> own = SplitAt(sets, ' ');
  return std::find(own.begin(), own.end(), set) != own.end();
}

std::span<const CounterMetric> CounterMetrics() { return kMetrics; }
std::span<const CounterSet> CounterSets() { return kSets; }

const CounterMetric* FindCounterMetric(std::string_view name) {
  const auto found = std::find_if(kMetrics.begin(), kMetrics.end(),
                                  [&](const CounterMetric& metric) { return metric.name == name; });
  return found == kMetrics.end() ? nullptr : &*found;
}

Result<WantedMetrics> MetricsOf(const std::vector<std::string>& wanted) {
  WantedMetrics metrics;
  for (const CounterMetric& metric : kMetrics) {
    if (metric.IsOf(kAlways)) metrics.always.emplace_back(metric.name);
  }
  for (const std::string& word : wanted) {
    const bool is_set = std::any_of(kSets.begin(), kSets.end(),
                                    [&](const CounterSet& set) { return set.key == word; });
    if (!is_set && word.find("__") != std::string::npos) {
      AddOnce(metrics.others, word);
      continue;
    }
    if (!is_set) {
      std::vector<std::string_view> keys;
      for (const CounterSet& set : kSets) keys.push_back(set.key);
      const std::string nearest = Nearest(word, keys);
      return UsageError("no set of counters is called " + word +
                        (nearest.empty() ? "; `batchlight counters --list` has them"
                                         : "; did you mean " + nearest + "?"));
    }
    for (const CounterMetric& metric : kMetrics) {
      // A stretch has no use for what only samples show.
      const bool in_stretches = metric.sets != kAlways && metric.sets != kTimeline;
      const bool of_set = word == kFull ? in_stretches : metric.IsOf(word);
      if (of_set) AddOnce(metrics.others, metric.name);
    }
  }
  return metrics;
}

}  // namespace batchlight
