// How a number is made again from its parts: those of the steps that a reader selects, of ranks,
// or of the whole run. The rule is data, so that the report page evaluates the same one: it is
// written into the page, and web/src/sums.ts reads it. tests/golden/sum_rules.json holds cases for
// both.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace batchlight {

struct SumRule {
  enum class Kind : uint8_t {
    kNone,        // stays what it is: a name, or a number that nothing adds up to
    kSum,         // sum of `of`
    kMost,        // largest of `of`
    kRatio,       // sum of `of` / sum of `per`
    kQuantile,    // `percent` of the numbers `of`, in order (numbers/quantile.h)
    kPercentile,  // of the histogram `of`; only the page needs it, as analyses know every value
  };
  Kind kind = Kind::kNone;
  std::string_view of = {};
  std::string_view per = {};
  double factor = 1;            // what the sum is multiplied by: 100 for percent
  std::string_view scale = {};  // one more factor: the number under this key
  double at_most = 0;           // 0: any
  bool zero_if_none = false;    // a ratio over nothing is 0; else it has no value
  double percent = 0;           // kQuantile, kPercentile
};

constexpr SumRule SumOf(std::string_view key) { return {.kind = SumRule::Kind::kSum, .of = key}; }
constexpr SumRule MostOf(std::string_view key) { return {.kind = SumRule::Kind::kMost, .of = key}; }
constexpr SumRule RatioOf(std::string_view part, std::string_view whole) {
  return {.kind = SumRule::Kind::kRatio, .of = part, .per = whole};
}
constexpr SumRule ShareOf(std::string_view part, std::string_view whole) {
  return {.kind = SumRule::Kind::kRatio, .of = part, .per = whole, .factor = 100};
}
constexpr SumRule QuantileOf(std::string_view key, double percent) {
  return {.kind = SumRule::Kind::kQuantile, .of = key, .percent = percent};
}

// Numbers by key, one for each part (a bin of steps, a rank); of a `scale` there is one alone. What
// needs a key that is not there has no value.
using PartsByKey = std::vector<std::pair<std::string_view, std::vector<double>>>;

// nullopt: no value.
std::optional<double> Evaluate(const SumRule& rule, const PartsByKey& parts);

}  // namespace batchlight
