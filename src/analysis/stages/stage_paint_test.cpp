#include "analysis/stages/stage_paint.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace batchlight {
namespace {

TEST(Paint, KeepsTheWhole) {
  const std::vector<StageSpan> life = {{0, 100, StageKind::kOther}};
  const auto once = Paint(life, {{10, 20}, {20, 30}, {90, 200}}, StageKind::kTraining);
  const auto twice = Paint(once, {{5, 15}, {29, 31}}, StageKind::kValidation);
  const std::vector<std::tuple<int64_t, int64_t, StageKind>> expected = {
      {0, 5, StageKind::kOther},      {5, 15, StageKind::kValidation},
      {15, 29, StageKind::kTraining}, {29, 31, StageKind::kValidation},
      {31, 90, StageKind::kOther},    {90, 100, StageKind::kTraining}};
  ASSERT_EQ(twice.size(), expected.size());
  for (size_t i = 0; i < twice.size(); ++i) {
    EXPECT_EQ(std::tuple(twice[i].start_ns, twice[i].end_ns, twice[i].kind), expected[i]) << i;
  }
}

}  // namespace
}  // namespace batchlight
