#include "analysis/result/sum_rule.h"

#include <algorithm>
#include <numeric>

#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

const std::vector<double>* Find(const PartsByKey& parts, std::string_view key) {
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [&](const auto& entry) { return entry.first == key; });
  return found == parts.end() ? nullptr : &found->second;
}

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::optional<double> Ratio(double of, const std::vector<double>* per, bool zero_if_none) {
  if (per == nullptr) return std::nullopt;
  const double whole = Sum(*per);
  if (whole > 0) return of / whole;
  return zero_if_none ? std::optional(0.0) : std::nullopt;
}

}  // namespace

std::optional<double> Evaluate(const SumRule& rule, const PartsByKey& parts) {
  const std::vector<double>* of = Find(parts, rule.of);
  const std::vector<double>* scale = rule.scale.empty() ? nullptr : Find(parts, rule.scale);
  if (of == nullptr || (scale == nullptr && !rule.scale.empty())) return std::nullopt;
  const auto scaled = [&](double sum) {
    return sum * (scale == nullptr ? 1 : scale->front()) * rule.factor;
  };
  std::optional<double> value;
  switch (rule.kind) {
    case SumRule::Kind::kSum:
      value = scaled(Sum(*of));
      break;
    case SumRule::Kind::kMost:
      value = of->empty() ? 0 : scaled(*std::max_element(of->begin(), of->end()));
      break;
    case SumRule::Kind::kRatio:
      value = Ratio(scaled(Sum(*of)), Find(parts, rule.per), rule.zero_if_none);
      break;
    case SumRule::Kind::kQuantile: {
      std::vector<double> values = *of;
      if (!values.empty()) value = scaled(Quantile(values, rule.percent / 100));
      break;
    }
    case SumRule::Kind::kNone:
    case SumRule::Kind::kPercentile:
      break;
  }
  return value && rule.at_most > 0 ? std::min(*value, rule.at_most) : value;
}

}  // namespace batchlight
