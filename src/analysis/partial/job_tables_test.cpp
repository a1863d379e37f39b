#include "analysis/partial/job_tables.h"

#include <gtest/gtest.h>

#include <map>

#include "analysis/partial/kept_own_times.h"
#include "analysis/testing/simulated_job.h"

namespace batchlight {
namespace {

JobPart PartOf(int32_t rank, RankCalls calls) {
  JobPart part;
  part.identity.label = "r" + std::to_string(rank) + ".batchlight";
  part.identity.first_process = part.identity.label;
  part.identity.ranks = {rank};
  part.identity.world_size = 4;
  part.identity.communicators = {7};
  RankPartial& one = part.ranks.emplace_back();
  one.rank = rank;
  one.host = "node";
  for (int step = 0; step < 20; ++step) {
    one.step_ns.push_back(1000 + step);
    one.step_number.push_back(100 + step);
    if (step > 0) one.steady.push_back(uint32_t(step));
  }
  one.phases.push_back({PhaseKind::kForward, "forward", std::vector<uint32_t>(20, 3)});
  one.kernels.push_back({"gemm", 4, 400, 100});
  one.own_times = PackOwnTimes({{{"aten::mm", 20, 7, {}, {}}}, {{"fc", 20, 9, {}, {}}}});
  one.calls = std::move(calls);
  return part;
}

class JobTablesTest : public ::testing::Test {
 protected:
  JobTablesTest() {
    const testing::SimulatedRanks simulated = testing::Simulate(
        {.ranks = 4, .ranks_per_host = 2, .steps = 20, .calls_per_step = 5, .slow_rank = 2});
    std::vector<JobPart> parts;
    for (int32_t rank = 3; rank >= 0; --rank) {
      parts.push_back(PartOf(rank, simulated.calls[size_t(rank)]));
    }
    job_.emplace(CompareRanks(std::move(parts), JobClock::kNone));
    EXPECT_TRUE(job_->ok());
    for (RowSource& table : JobTables(job_->value())) tables_[table.name] = std::move(table);
  }
  std::vector<Cell> Row(const std::string& table, size_t row) {
    const RowSource& source = tables_.at(table);
    std::vector<Cell> cells(source.columns.size());
    source.fill(row, cells);
    EXPECT_EQ(cells.size(), source.columns.size());
    return cells;
  }
  std::optional<Result<JobResult>> job_;
  std::map<std::string, RowSource> tables_;
};

TEST_F(JobTablesTest, EveryRankStepPhaseAndKernel) {
  EXPECT_EQ(tables_.at("ranks").row_count, 4u);
  EXPECT_EQ(tables_.at("steps").row_count, 80u);
  EXPECT_EQ(tables_.at("phases").row_count, 80u);
  EXPECT_EQ(tables_.at("operators").row_count, 8u);
  EXPECT_EQ(Row("operators", 3)[2], Cell("fc"));
  EXPECT_EQ(Row("operators", 3)[4], Cell(int64_t{9000}));
  EXPECT_EQ(tables_.at("kernels").row_count, 4u);
  EXPECT_EQ(Row("ranks", 3)[0], Cell(int64_t{3}));
  EXPECT_EQ(Row("ranks", 3)[3], Cell(std::string("r3.batchlight")));
  const std::vector<Cell> first = Row("steps", 20);
  EXPECT_EQ(first[0], Cell(int64_t{1}));
  EXPECT_EQ(first[1], Cell(int64_t{100}));
  EXPECT_EQ(first[2], Cell(int64_t{0}));
  EXPECT_EQ(first[3], Cell(int64_t{1000}));
  EXPECT_EQ(Row("phases", 79),
            CellRow(int64_t{3}, int64_t{119}, std::string("forward"), int64_t{3000}));
  EXPECT_EQ(Row("kernels", 2),
            CellRow(int64_t{2}, std::string("gemm"), int64_t{4}, int64_t{400}, int64_t{100}));
}

TEST_F(JobTablesTest, ACallHasTheSameNumberOnAllRanks) {
  const size_t calls = tables_.at("collectives").row_count / 4;
  ASSERT_GE(calls, 100u);
  for (size_t call = 0; call < calls; ++call) {
    const std::vector<Cell> first = Row("collectives", call);
    for (size_t rank = 1; rank < 4; ++rank) {
      const std::vector<Cell> other = Row("collectives", rank * calls + call);
      for (const size_t same : {1, 2, 3, 4, 5, 6}) EXPECT_EQ(other[same], first[same]);
    }
  }
}

TEST_F(JobTablesTest, WhatTheOthersLoseIsInTheStepsOfTheLateRank) {
  int64_t cost_ns[4] = {};
  for (size_t row = 0; row < 80; ++row) {
    const std::vector<Cell> cells = Row("steps", row);
    const int64_t* cost = std::get_if<int64_t>(&cells[6]);
    if (cost != nullptr) cost_ns[row / 20] += *cost;
  }
  for (const size_t rank : {0, 1, 3}) EXPECT_GT(cost_ns[2], 3 * cost_ns[rank]);
}

}  // namespace
}  // namespace batchlight
