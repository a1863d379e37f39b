// The cases of tests/golden/sum_rules.json, which web/src/sums_test.ts reads as well.
#include "analysis/result/sum_rule.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace batchlight {
namespace {

using nlohmann::json;

SumRule RuleOf(const json& rule) {
  static const std::map<std::string, SumRule::Kind> kKinds = {
      {"sum", SumRule::Kind::kSum},
      {"most", SumRule::Kind::kMost},
      {"ratio", SumRule::Kind::kRatio},
      {"quantile", SumRule::Kind::kQuantile}};
  SumRule out{.kind = kKinds.at(rule["kind"])};
  const auto text = [&](const char* key) -> std::string_view {
    return rule.contains(key) ? rule[key].get_ref<const std::string&>() : std::string_view();
  };
  out.of = text("of");
  out.per = text("per");
  out.scale = text("scale");
  out.factor = rule.value("factor", 1.0);
  out.at_most = rule.value("at_most", 0.0);
  out.percent = rule.value("percent", 0.0);
  out.zero_if_none = rule.value("zero_if_none", false);
  return out;
}

TEST(SumRule, GivesWhatThePageGives) {
  std::ifstream file(BATCHLIGHT_SOURCE_DIR "/tests/golden/sum_rules.json");
  const json cases = json::parse(file);
  ASSERT_FALSE(cases.empty());
  for (const json& one : cases) {
    PartsByKey parts;
    for (const auto& [key, values] : one["parts"].items()) {
      parts.emplace_back(key, values.is_number() ? std::vector{values.get<double>()}
                                                 : values.get<std::vector<double>>());
    }
    const std::optional<double> value = Evaluate(RuleOf(one["rule"]), parts);
    const std::string name = one["name"];
    ASSERT_EQ(value.has_value(), !one["value"].is_null()) << name;
    if (!value) continue;
    EXPECT_DOUBLE_EQ(*value, one["value"].get<double>()) << name;
  }
}

}  // namespace
}  // namespace batchlight
