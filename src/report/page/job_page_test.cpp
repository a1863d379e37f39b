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

TEST(JobPage, DrawsWhatStandsOut) {
  const std::string page = MakeJobPage(Job(4, 3), "first line\nsecond <line>\n");
  EXPECT_TRUE(Has(page, "first line\nsecond &lt;line&gt;\n"));
  EXPECT_TRUE(Has(page, "viewBox=\"0 0 2 4\""));
  EXPECT_TRUE(Has(page, "d=\"M0 1h1v1H0z\""));  // rank 1 in its first phase: 30 % of a step
  EXPECT_TRUE(Has(page, "viewBox=\"0 0 3 4\""));
  EXPECT_TRUE(Has(page, "d=\"M0 1h3v1H0z\""));  // and in every step
  EXPECT_TRUE(Has(page, "<td>node0</td>"));
  EXPECT_FALSE(Has(page, "<script"));
}

TEST(JobPage, OfOneRankHasNoMap) { EXPECT_FALSE(Has(MakeJobPage(Job(1, 3), ""), "<svg")); }

// Neighbours never have the same shade: no boxes can be put together.
TEST(JobPage, AThousandRanksAreSmall) {
  JobResult job = Job(1000, 64);
  for (size_t rank = 0; rank < job.ranks.size(); ++rank) {
    for (size_t step = 0; step < 64; ++step) {
      job.steps.own_ns[rank][step] = (rank + step) % 2 == 0 ? 84e6 : 98e6;
    }
  }
  EXPECT_LT(MakeJobPage(job, "").size(), 2'000'000u);
}

}  // namespace
}  // namespace batchlight
