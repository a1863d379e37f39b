#include "report/terminal/tree_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/testing/sample_run.h"

namespace batchlight {
namespace {

std::string Print(const TreeTextOptions& options, bool gpu = true) {
  const Store store = testing::MakeSampleRun({.gpu = gpu});
  return TreeText(BuildOverview(store), {.width = 110}, options);
}

size_t Lines(const std::string& text) { return size_t(std::count(text.begin(), text.end(), '\n')); }

TEST(TreeTextTest, ShowsModulesInsideOfModulesWithTheirOperatorsAndKernels) {
  const std::string text = Print({});
  EXPECT_NE(text.find("TinyTransformer"), std::string::npos) << text;
  EXPECT_NE(text.find("├ encoder.layers.0  TransformerEncoderLayer"), std::string::npos) << text;
  EXPECT_NE(text.find("linear1  Linear"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::"), std::string::npos) << text;
  EXPECT_NE(text.find("GPU ms"), std::string::npos) << text;
}

TEST(TreeTextTest, LevelsSharesAndNamesChooseWhatIsShown) {
  EXPECT_LT(Lines(Print({.depth = 1})), Lines(Print({.depth = 2})));
  EXPECT_LT(Lines(Print({.least = 0.2})), Lines(Print({.least = 0.001})));
  EXPECT_NE(Print({.least = 0.05}).find(" smaller"), std::string::npos);
  const std::string text = Print({.below = "encoder.layers.2"});
  EXPECT_NE(text.find("encoder.layers.2"), std::string::npos);
  EXPECT_EQ(text.find("encoder.layers.1"), std::string::npos);
}

TEST(TreeTextTest, RowsAreTheBranchesWithMostTime) {
  const size_t around = Lines(Print({.rows = 1})) - 1;  // heading, the rest, what the columns mean
  for (const size_t rows : {2u, 5u, 9u}) {
    EXPECT_EQ(Lines(Print({.rows = rows})), rows + around) << Print({.rows = rows});
  }
  const std::string text = Print({.rows = 5});
  EXPECT_NE(text.find("a larger --rows shows them"), std::string::npos) << text;
  EXPECT_EQ(text.find(" smaller"), std::string::npos) << text;
  EXPECT_EQ(Print({.rows = 100'000}).find("--rows"), std::string::npos);
  EXPECT_EQ(Lines(Print({.rows = 3, .below = "linear"})), 3 + around);
}

TEST(TreeTextTest, CanBeOfTheGpu) {
  const std::string text = Print({.by_gpu = true});
  EXPECT_NE(text.find("GPU fwd"), std::string::npos) << text;
  EXPECT_NE(text.find("of GPU"), std::string::npos) << text;
}

}  // namespace
}  // namespace batchlight
