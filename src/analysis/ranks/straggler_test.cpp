// The cases of tests/golden/stragglers.json, which web/src/straggler_test.ts reads as well.
#include "analysis/ranks/straggler.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

namespace batchlight {
namespace {

TEST(Straggler, IsWhomThePageNames) {
  std::ifstream file(BATCHLIGHT_SOURCE_DIR "/tests/golden/stragglers.json");
  const nlohmann::json golden = nlohmann::json::parse(file);
  EXPECT_EQ(golden["rule"]["others_times"], kStragglerRule.others_times);
  EXPECT_EQ(golden["rule"]["of_step"], kStragglerRule.of_step);
  for (const auto& one : golden["cases"]) {
    std::vector<RankWait> ranks;
    for (const auto& rank : one["ranks"]) ranks.push_back({rank["waited"], rank["step"]});
    const std::optional<Straggler> found = FindStraggler(ranks);
    const std::string name = one["name"];
    ASSERT_EQ(found.has_value(), !one["straggler"].is_null()) << name;
    if (!found) continue;
    EXPECT_EQ(found->rank, one["straggler"]["row"]) << name;
    EXPECT_EQ(found->waited_ns, one["straggler"]["waited"]) << name;
  }
}

}  // namespace
}  // namespace batchlight
