#include "report/page/job_page.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

JobResult Job(size_t ranks, size_t steps) {
  JobResult job;
  job.step_ns = 100e6;
  job.phases = {"<script>load", "forward"};
  for (size_t step = 0; step < steps; ++step) {
    job.steps.first_step.push_back(static_cast<int64_t>(step));
    job.steps.usual_ns.push_back(80e6);
  }
  for (size_t rank = 0; rank < ranks; ++rank) {
    RankTimes& times = job.ranks.emplace_back();
    times.rank = static_cast<int32_t>(rank);
    times.host = "node" + std::to_string(rank / 8);
    times.phase_ns = {rank == 1 ? 31e6 : 1e6, 40e6};
    job.steps.own_ns.emplace_back(steps, rank == 1 ? 110e6 : 80e6);
  }
  return job;
}

bool Has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST(JobPage, HasWhatTheTerminalSaysTheMapsAndEachRank) {
  const std::string page = MakeJobPage(Job(4, 3), "first line\nsecond <line>\n", "0.1");
  EXPECT_TRUE(Has(page, "first line\nsecond &lt;line&gt;\n"));
  EXPECT_TRUE(Has(page, "\"kind\":\"ranks\""));
  EXPECT_TRUE(Has(page, "\"share\":[[0,0],[3000,0],[0,0],[0,0]]"));
  EXPECT_TRUE(Has(page, "<td>node0</td>"));
  EXPECT_TRUE(Has(page, "u003cscript>load")) << "a name is no element";
  EXPECT_FALSE(Has(page, "<script>load"));
}

TEST(JobPage, OfOneRankHasNoMap) {
  EXPECT_TRUE(Has(MakeJobPage(Job(1, 3), "", "0.1"), "\"rank_maps\":null"));
}

TEST(JobPage, AThousandRanksAreSmall) {
  EXPECT_LT(MakeJobPage(Job(1000, 64), "", "0.1").size(), 1'000'000u);
}

}  // namespace
}  // namespace batchlight
