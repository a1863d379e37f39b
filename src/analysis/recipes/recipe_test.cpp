#include "analysis/recipes/recipe.h"

#include <gtest/gtest.h>

#include "analysis/recipes/rank_stats.h"
#include "analysis/recipes/recipe_part.h"
#include "analysis/recipes/utilization_map.h"
#include "analysis/tables/registry.h"
#include "analysis/testing/sample_run.h"
#include "analysis/testing/store_builder.h"

namespace batchlight::recipes {
namespace {

std::string Text(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<int64_t>(&cell)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&cell)) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", *real);
    return text;
  }
  return "-";
}

std::vector<std::string> Lines(const ResultTable& table) {
  std::vector<std::string> lines;
  for (const auto& row : table.rows) {
    std::string& line = lines.emplace_back();
    for (const Cell& cell : row) line += (line.empty() ? "" : " ") + Text(cell);
  }
  return lines;
}

RecipeCall Call(const std::string& text) { return ParseRecipe(text).value(); }

TEST(StatsOfRank, LargestTotalFirst) {
  const ResultTable table = StatsOfRank({.count = "Instances"}, {{"a", {1}}, {"b", {1, 2, 3, 8}}});
  EXPECT_EQ(Lines(table), (std::vector<std::string>{"b 93.3 14 4 3.5 1.8 2.5 4.3 1 8 3.1",
                                                    "a 6.7 1 1 1.0 1.0 1.0 1.0 1 1 0.0"}));
}

TEST(StatsOverRanks, AsNsysDoes) {
  const ResultTable first = StatsOfRank({.count = "Instances"}, {{"k", {1, 2, 3, 8}}, {"x", {5}}});
  const ResultTable second = StatsOfRank({.count = "Instances"}, {{"k", {1, 9}}});
  // Q1 is the least of the ranks', Q3 the largest, the median that of their medians; the deviation
  // is that of all six values.
  EXPECT_EQ(Lines(StatsOverRanks({&first, &second}, {0, 3})),
            (std::vector<std::string>{"k 82.8 24 6 4.0 1.8 3.8 7.0 1 9 3.6 0, 3 3",
                                      "x 17.2 5 1 5.0 5.0 5.0 5.0 5 5 0.0 0 0"}));
}

TEST(UtilizationMap, SharesOfStretches) {
  const Activity activity{.kernels = {{0, 50}, {100, 150}},
                          .communication = {{25, 75}, {199, 200}}};
  EXPECT_EQ(Lines(UtilizationMap(activity, 2)),
            (std::vector<std::string>{"0 100 50.0 50.0 25.0", "100 200 50.0 1.0 0.0"}));
  EXPECT_TRUE(UtilizationMap({}, 2).rows.empty());
}

TEST(Recipe, EveryRecipeRunsOrSaysWhatIsMissing) {
  const Store store = testing::MakeSampleRun({.steps = 4, .gpu = true});
  size_t here = 0;
  for (const RecipeName& recipe : RecipeNames()) {
    const auto call = ParseRecipe(std::string(recipe.name));
    EXPECT_EQ(call.ok(), recipe.here) << recipe.name;
    if (!call.ok()) {
      EXPECT_NE(call.status().message().find(recipe.title), std::string::npos);
      continue;
    }
    ++here;
    const auto part = MapRecipe(call.value(), "a", store);
    ASSERT_TRUE(part.ok()) << recipe.name << part.status().message();
    ASSERT_TRUE(DecodePart(part.value())) << recipe.name;
    EXPECT_EQ(EncodePart(*DecodePart(part.value())), part.value());
    EXPECT_FALSE(DecodePart(std::string_view(part.value()).substr(0, part.value().size() / 2)));
    const auto result = ReduceRecipe(call.value(), {part.value()});
    if (!result.ok()) {
      EXPECT_NE(result.status().message().find("does not contain"), std::string::npos);
    }
  }
  EXPECT_GE(here, 26u);
}

TEST(Recipe, RanksOfTwoInputs) {
  std::vector<std::string> parts;
  const RecipeCall call = Call("nvtx_sum");
  for (const int32_t rank : {1, 0}) {
    testing::StoreBuilder build;
    const ThreadId main = build.Thread(build.Process(100, "train.py", rank));
    build.Range(main, "step", 0, 10 + rank);
    build.Range(main, "step", 20, 40);
    parts.push_back(MapRecipe(call, "r" + std::to_string(rank), build.Build()).value());
  }
  const RecipeResult result = ReduceRecipe(call, parts).value();
  ASSERT_EQ(result.tables.size(), 3u);
  EXPECT_EQ(Lines(result.tables[0]), (std::vector<std::string>{"0 r0", "1 r1"}));
  EXPECT_EQ(Lines(result.tables[1]),
            (std::vector<std::string>{"0 :step 100.0 30 2 15.0 12.5 15.0 17.5 10 20 7.1",
                                      "1 :step 100.0 31 2 15.5 13.3 15.5 17.8 11 20 6.4"}));
  EXPECT_EQ(Lines(result.tables[2]),
            std::vector<std::string>{":step 100.0 61 4 15.3 12.5 15.3 17.8 10 20 5.5 0 0, 1"});
}

TEST(Recipe, RanksOfOneInput) {
  testing::StoreBuilder build;
  for (const int32_t rank : {0, 1}) {
    const ThreadId main =
        build.Thread(build.Process(100 + static_cast<uint32_t>(rank), "train.py", rank));
    build.Range(main, "step", 0, 10);
    build.Kernel(main, "gemm", 1, 2, 5 + rank);
    build.ApiCall(main, "cudaDeviceSynchronize", 6, 9);
  }
  const Store store = build.Build();
  const auto lines = [&](const char* name) {
    const RecipeCall call = Call(name);
    return Lines(ReduceRecipe(call, {MapRecipe(call, "a", store).value()}).value().tables[1]);
  };
  EXPECT_EQ(lines("cuda_gpu_kern_sum"),
            (std::vector<std::string>{"0 gemm 100.0 3 1 3.0 3.0 3.0 3.0 3 3 0.0",
                                      "1 gemm 100.0 4 1 4.0 4.0 4.0 4.0 4 4 0.0"}));
  const std::vector<std::string> waits = lines("cuda_api_sync");
  ASSERT_EQ(waits.size(), 2u);  // each rank its own
  EXPECT_EQ(waits[0].substr(0, 2), "0 ");
  EXPECT_EQ(waits[1].substr(0, 2), "1 ");
}

// Each byte changed, and cut everywhere: an error, or another table.
TEST(Recipe, DamagedParts) {
  const RecipeCall call = Call("nvtx_sum");
  testing::StoreBuilder build;
  build.Range(build.Thread(build.Process(100, "train.py", 3)), "step", 0, 10);
  const std::string good = MapRecipe(call, "a", build.Build()).value();
  ASSERT_TRUE(ReduceRecipe(call, {good}).ok());
  for (size_t at = 0; at < good.size(); ++at) {
    EXPECT_FALSE(ReduceRecipe(call, {good.substr(0, at)}).ok());
    for (const char value : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string damaged = good;
      damaged[at] = value;
      (void)ReduceRecipe(call, {damaged, good});
    }
  }
}

TEST(RecipeNames, TablesThatAreThereInsteadAre) {
  constexpr std::string_view kBefore = "`batchlight table ";
  size_t tables = 0;
  for (const RecipeName& recipe : RecipeNames()) {
    const size_t place = recipe.title.find(kBefore);
    if (place == std::string_view::npos) continue;
    const std::string_view name = recipe.title.substr(place + kBefore.size());
    EXPECT_NE(FindOverviewTable(name.substr(0, name.find('`'))), nullptr) << recipe.title;
    ++tables;
  }
  EXPECT_EQ(tables, 4u);
}

TEST(ParseRecipe, RefusesOthers) {
  EXPECT_EQ(ParseRecipe("cuda_gpu_kern_summ").status().kind(), ErrorKind::kUsage);
  EXPECT_NE(ParseRecipe("cuda_gpu_kern_summ").status().message().find("cuda_gpu_kern_sum"),
            std::string::npos);
  EXPECT_EQ(ParseRecipe("nvtx_sum:base").status().kind(), ErrorKind::kUsage);
  EXPECT_EQ(TextOf(Call("cuda_gpu_kern_sum:base")), "cuda_gpu_kern_sum:base");
}

}  // namespace
}  // namespace batchlight::recipes
