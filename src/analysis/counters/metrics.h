// The hardware metrics that we know, and the questions that sets of them answer.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace batchlight {

struct CounterMetric {
  std::string_view name;   // as CUPTI names it
  std::string_view title;  // for people
  std::string_view unit;   // ns, hz, count, bytes, percent, operations, cycles
  std::string_view sets;   // keys, separated by spaces
  std::string_view help;

  bool IsOf(std::string_view set) const;
};

struct CounterSet {
  std::string_view key;
  std::string_view question;
};

std::span<const CounterMetric> CounterMetrics();
std::span<const CounterSet> CounterSets();
// nullptr: it is not one of ours.
const CounterMetric* FindCounterMetric(std::string_view name);

// What is read in every pass, and what besides for sets or single metrics in `wanted`. Error
// (kUsage): there is no such set, and a metric has "__" in its name.
struct WantedMetrics {
  std::vector<std::string> always;
  std::vector<std::string> others;
};
Result<WantedMetrics> MetricsOf(const std::vector<std::string>& wanted);

}  // namespace batchlight
