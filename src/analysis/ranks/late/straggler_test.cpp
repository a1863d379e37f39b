#include "analysis/ranks/late/straggler.h"

#include <gtest/gtest.h>

#include <vector>

namespace batchlight {
namespace {

struct Case {
  const char* name;
  std::vector<RankWait> ranks;
  std::optional<Straggler> straggler;
};

TEST(Straggler, IsTheRankThatWaitsLeastWhileOthersDo) {
  const Case cases[] = {
      {"the rank that waits least while the others do",
       {{300, 1000}, {0, 1000}, {320, 1000}},
       Straggler{1, 310}},
      {"both wait", {{300, 1000}, {200, 1000}}, std::nullopt},
      {"1.5 % of a step is not worth a word", {{15, 1000}, {0, 1000}}, std::nullopt},
      {"2 % is", {{20, 1000}, {0, 1000}}, Straggler{1, 20}},
      {"a third of what the others wait is little enough",
       {{100, 1000}, {300, 1000}},
       Straggler{0, 200}},
      {"one rank waits for nobody", {{0, 1}}, std::nullopt},
  };
  for (const Case& one : cases) {
    const std::optional<Straggler> found = FindStraggler(one.ranks);
    ASSERT_EQ(found.has_value(), one.straggler.has_value()) << one.name;
    if (!found) continue;
    EXPECT_EQ(found->rank, one.straggler->rank) << one.name;
    EXPECT_EQ(found->waited_ns, one.straggler->waited_ns) << one.name;
  }
}

}  // namespace
}  // namespace batchlight
