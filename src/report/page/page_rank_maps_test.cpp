#include "report/page/page_rank_maps.h"

#include <gtest/gtest.h>

#include <string>

namespace batchlight {
namespace {

using nlohmann::json;

// Ranks whose steps take 100 ms, of which `slow` takes 30 ms longer in its first phase and in every
// step; the last has no second step.
JobResult Job(size_t ranks, size_t slow) {
  JobResult job;
  job.step_ns = 100e6;
  job.phases = {"<b>load", "forward"};
  job.steps.first_step = {10, 11};
  job.steps.usual_ns = {80e6, 80e6};
  for (size_t rank = 0; rank < ranks; ++rank) {
    RankTimes& times = job.ranks.emplace_back();
    times.rank = static_cast<int32_t>(rank);
    times.phase_ns = {rank == slow ? 31e6 : 1e6, 40e6};
    job.steps.own_ns.emplace_back(rank + 1 == ranks ? 1 : 2, rank == slow ? 110e6 : 80e6);
  }
  return job;
}

TEST(PageRankMaps, EachRankHasALine) {
  const json maps = PageRankMaps(Job(4, 1));
  EXPECT_EQ(maps["lines"], json({"0", "1", "2", "3"}));
  const json& phases = maps["maps"][0];
  EXPECT_EQ(phases["columns"], json({"<b>load", "forward"}));
  EXPECT_EQ(phases["share"][1], json({3000, 0})) << "0.01 % of a step";
  EXPECT_EQ(phases["share"][0], json({0, 0}));
  EXPECT_FALSE(phases.contains("worst"));
  const json& steps = maps["maps"][1];
  EXPECT_EQ(steps["columns"], json({"10", "11"}));
  EXPECT_EQ(steps["share"][1], json({3000, 3000}));
  EXPECT_EQ(steps["share"][3], json({0, nullptr})) << "it has no such step";
}

TEST(PageRankMaps, ManyRanksShareLinesAndTheWorstShows) {
  JobResult job = Job(10'000, 777);
  job.grid = ParseGrid("dp=1250,tp=8").value();
  const json maps = PageRankMaps(job);
  const size_t lines = maps["lines"].size();
  EXPECT_LE(lines, 240u);
  EXPECT_EQ(10'000 % lines, 0u) << "whole parts of the grid";
  const size_t line = 777 / (10'000 / lines);
  EXPECT_EQ(maps["maps"][0]["share"][line][0], 3000);
  EXPECT_EQ(maps["maps"][0]["worst"][line][0], 777);
  EXPECT_EQ(maps["maps"][0]["share"][line + 1][0], 0);
  EXPECT_EQ(maps["ranks"][777], "777 (dp 97, tp 1)");
  EXPECT_LT(maps.dump().size(), 400'000u);
}

TEST(PageRankMaps, OneRankHasNone) { EXPECT_TRUE(PageRankMaps(Job(1, 0)).is_null()); }

}  // namespace
}  // namespace batchlight
