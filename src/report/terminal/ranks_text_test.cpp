#include "report/terminal/ranks_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/page/job_page.h"
#include "report/text/rank_sentences.h"

namespace batchlight {
namespace {

// dp=2,tp=2 with steps of 100 ms; rank 2 loads data 4 ms longer, in the last of three steps 12 ms.
JobResult SmallJob() {
  JobResult job;
  job.inputs = 4;
  job.world_size = 4;
  job.step_ns = 100e6;
  job.phases = {"data loading", "forward"};
  job.grid = ParseGrid("dp=2,tp=2").value();
  job.steps.first_step = {10, 11, 12};
  job.steps.usual_ns = {80e6, 80e6, 80e6};
  for (int32_t rank = 0; rank < 4; ++rank) {
    RankTimes& times = job.ranks.emplace_back();
    times.rank = rank;
    times.host = "node" + std::to_string(rank / 2);
    times.steps = 3;
    times.step_ns = 100e6;
    times.phase_ns = {rank == 2 ? 5e6 : 1e6, 40e6};
    job.steps.own_ns.push_back({80e6, 80e6, rank == 2 ? 92e6 : 80e6});
  }
  job.straggler = {.row = 2,
                   .waited_ns = 4e6,
                   .of_step = 0.04,
                   .lost_ns = 4e6,
                   .late_steps = {12},
                   .steps = 3,
                   .phase = "data loading"};
  job.axes = {{.name = "tp", .groups = 2, .ranks = 2, .exposed_ns = 5e6, .lost_ns = 4e6}};
  return job;
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(RanksText, NamesRankHostAndPlace) {
  EXPECT_EQ(
      StragglerSentence(SmallJob()),
      "Rank 2 (node1), dp 1, tp 0, makes the others wait 4.00 ms of a step (4.0 %), in 1 of 3 "
      "steps (12).");
}

TEST(RanksText, SaysWhatAStepWouldBeShorter) {
  JobResult job = SmallJob();
  EXPECT_FALSE(Has(RanksAsText(job, {.unicode = false}, 10), "hardly faster"));
  job.straggler->lost_ns = 1e6;
  EXPECT_TRUE(Has(RanksAsText(job, {.unicode = false}, 10), "a step would be 1.00 ms shorter"));
  const auto json = nlohmann::json::parse(RanksAsJson(job));
  EXPECT_EQ(json["straggler"]["lost_ns_per_step"], 1e6);
}

TEST(RanksText, SaysWhatElseDiffers) {
  JobResult job = SmallJob();
  job.straggler->causes = {
      .kernels = SlowKernels{.times = 1.4},
      .clock =
          LowClock{.mhz = 1200, .others_mhz = 1710, .held_by_heat = 0.8, .others_held_by_heat = 0},
      .collected_ns = 24e6,
      .others_collected_ns = 1e6,
      .operators = {{"aten::mm", 12e6, 4e6}, {"aten::add", 3e6, 1e6}},
      .modules = {{"layers.3", 9e6, 1e6}}};
  std::string text = RanksAsText(job, {.width = 400, .unicode = false}, 10);
  EXPECT_TRUE(Has(text,
                  "Its GPU runs at 1,200 MHz, that of the rank in the middle at 1,710; it is held "
                  "back by heat for 80.0 % of the time (in the middle 0.0 %)."))
      << text;
  EXPECT_TRUE(Has(text, "garbage collector takes 24.0 ms of such a step there, 1.00 ms at most"))
      << text;
  EXPECT_TRUE(Has(text,
                  "Of its operators, without what they call, aten::mm takes 12.0 ms of such a step "
                  "(4.00 ms at most on another rank), aten::add 3.00 ms (1.00 ms)."))
      << text;
  EXPECT_TRUE(Has(text, "Of its modules, without what they call, layers.3 takes 9.00 ms")) << text;
  const auto json = nlohmann::json::parse(RanksAsJson(job))["straggler"];
  EXPECT_EQ(json["operators"][1]["name"], "aten::add");
  EXPECT_EQ(json["modules"][0]["others_ns"], 1e6);
  EXPECT_EQ(json["clock"]["mhz"], 1200);
  EXPECT_TRUE(json["clock"]["held_by_power"].is_null());
  EXPECT_EQ(json["collected_ns"], 24e6);
}

TEST(RanksText, SaysHowEvenlyExpertsAreLoaded) {
  JobResult job = SmallJob();
  EXPECT_FALSE(Has(RanksAsText(job, {.unicode = false}, 10), "Exchanges"));
  job.exchanges = {{.communicator = 3,
                    .ranks = 4,
                    .calls = 60,
                    .mean_bytes = 8192,
                    .imbalance = 2.5,
                    .busiest = 2,
                    .busiest_times = 2.25}};
  const std::string text = RanksAsText(job, {.width = 400, .unicode = false}, 10);
  EXPECT_TRUE(Has(text, "has 2.50 times the mean, Rank 2 (node1) in all 2.25 times")) << text;
  EXPECT_TRUE(Has(text, "group 3")) << text;
  EXPECT_EQ(nlohmann::json::parse(RanksAsJson(job))["exchanges"][0]["busiest_rank"], 2);
  job.exchanges[0].imbalance = job.exchanges[0].busiest_times = 1.01;
  EXPECT_FALSE(Has(RanksAsText(job, {.unicode = false}, 10), "Balance")) << "they are even";
}

TEST(RanksText, SaysWhichLinksAreSlow) {
  JobResult job = SmallJob();
  EXPECT_FALSE(Has(RanksAsText(job, {.unicode = false}, 10), "Slow links"));
  job.slow_links = {{.communicator = 5,
                     .operation = "AllReduce",
                     .bytes = 1 << 20,
                     .members = {0, 2},
                     .hosts = 2,
                     .like = 7,
                     .transfer_ns = 1 << 20,
                     .others_ns = 1 << 18,
                     .longer_per_step_ns = 6e6}};
  const std::string text = RanksAsText(job, {.width = 500, .unicode = false}, 10);
  EXPECT_TRUE(Has(text,
                  "Group 5 (ranks 0, 2 on node0, node1) moves AllReduce 1.00 MiB with 1.00 GB/s, "
                  "the 7 others of as many ranks on as many hosts with 4.00 in the middle: 6.00 ms "
                  "of a step of its kernels. Look at the links of these hosts"))
      << text;
  const auto json = nlohmann::json::parse(RanksAsJson(job))["slow_links"][0];
  EXPECT_EQ(json["ranks"], (std::vector<int>{0, 2}));
  EXPECT_EQ(json["others_bus_gbps"], 4);
}

TEST(RanksText, SaysWhatAStepWouldBeIfNoRankWereSlow) {
  JobResult job = SmallJob();
  EXPECT_TRUE(nlohmann::json::parse(RanksAsJson(job))["what_if"].is_null());
  job.what_if = {.step_s = 0.104,
                 .ideal_s = 0.100,
                 .without_workers_s = 0.101,
                 .without_stage_s = 0.104,
                 .workers = {{2, 1, 0, 1.03}, {0, 0, 0, 1}},
                 .healed = 1,
                 .stages = {{"stage 0", 1.03}},
                 .works = {{"data loading", 1.03}}};
  const std::string text = RanksAsText(job, {.width = 500, .unicode = false}, 10);
  EXPECT_TRUE(
      Has(text,
          "A step takes 104 ms, and 100 ms if each rank took for itself what all take in "
          "the mean (S 1.04). With the slowest 1 of 2 ranks as fast as the mean (first Rank "
          "2 (node1)) it would take 101 ms: 75.0 % of what is lost (M_W)."))
      << text;
  EXPECT_TRUE(Has(text, "rank 2 (dp 1, tp 0)")) << text;
  EXPECT_FALSE(Has(text, "M_S")) << "there is one stage";
  EXPECT_EQ(nlohmann::json::parse(RanksAsJson(job))["what_if"]["operations"][0]["name"],
            "data loading");
  job.what_if->step_s = 0.1005;
  EXPECT_FALSE(Has(RanksAsText(job, {.unicode = false}, 10), "What if"));
}

// Names are those of files: whatever they hold, no view has a control character of theirs.
TEST(RanksText, NamesOfHostileFilesHarmNobody) {
  const std::string evil = "\x1b[2J<img src=x onerror=alert(1)>\xc2\x9b\xe2\x80\xae\n\r";
  JobResult job = SmallJob();
  for (RankTimes& rank : job.ranks) rank.host = rank.label = evil;
  job.phases[0] = job.straggler->phase = evil;
  job.notes = {evil};
  job.grid = RankGrid({{evil, 2}, {"tp", 2}});
  job.axes[0].name = evil;
  job.straggler->causes.operators = job.straggler->causes.modules = {{evil, 9e6, 1e6}};
  job.straggler->causes.kernels = SlowKernels{.times = 2, .worst = evil, .worst_times = 3};
  job.collectives = {{.operation = evil, .ranks = 4, .bytes = 4, .calls = 9}};
  job.slow_links = {{.operation = evil, .bytes = 4, .members = {0, 1}, .like = 3}};
  job.what_if = {.step_s = 2,
                 .ideal_s = 1,
                 .workers = {{2, 1, 0, 2}},
                 .stages = {{"stage 0", 2}, {"stage 1", 1}},
                 .works = {{evil, 2}}};
  const std::string text = RanksAsText(job, {.width = 900}, 10);
  const std::string page = MakeJobPage(job, text, "1");
  for (const std::string& said : {text, RanksAsJson(job), page}) {
    EXPECT_TRUE(Has(said, "alert(1)"));
    for (const char* control :
         {"\x1b", "\xc2\x9b", "\xe2\x80\xae", "\r", "\\u001b", "\\u009b", "\\u202e"}) {
      EXPECT_FALSE(Has(said, control)) << said.substr(said.find(control) - 40, 80);
    }
  }
  EXPECT_FALSE(Has(page, "<img"));
}

TEST(RanksText, WithoutAStragglerSaysWhatIsKnown) {
  JobResult job = SmallJob();
  job.straggler.reset();
  const std::string unknown = RanksAsText(job, {.unicode = false}, 10);
  EXPECT_TRUE(Has(unknown, "not known")) << unknown;
  EXPECT_TRUE(Has(unknown, "Ranks by step, with what they wait")) << unknown;
  EXPECT_FALSE(Has(unknown, "lost waiting")) << unknown;
  const auto json = nlohmann::json::parse(RanksAsJson(job));
  for (const char* key : {"waited_ns", "lost_ns", "cost_ns", "last_share"}) {
    EXPECT_TRUE(json["ranks"][0][key].is_null()) << key << ": what is not known is no 0";
  }
  EXPECT_TRUE(json["axes"][0]["lost_ns"].is_null());
  job.waits_by = WaitsBy::kPhases;
  EXPECT_EQ(nlohmann::json::parse(RanksAsJson(job))["ranks"][0]["lost_ns"], 0);
  EXPECT_TRUE(nlohmann::json::parse(RanksAsJson(job))["ranks"][0]["last_share"].is_null());
  EXPECT_TRUE(Has(RanksAsText(job, {.unicode = false}, 10), "due to all in turn"));
  job.seldom_late = {.row = 2, .waited_ns = 4e6, .of_step = 0.04, .late_steps = {12}, .steps = 3};
  const std::string seldom = RanksAsText(job, {.unicode = false}, 10);
  EXPECT_TRUE(Has(seldom, "is due to Rank 2 (node1)")) << seldom;
  EXPECT_TRUE(Has(seldom, "without what they lost waiting")) << seldom;
  EXPECT_EQ(nlohmann::json::parse(RanksAsJson(job))["seldom_late"]["rank"], 2);
}

TEST(RanksText, MapsAreInTheOrderOfTheGrid) {
  const std::string text = RanksAsText(SmallJob(), {.unicode = false}, 10);
  EXPECT_TRUE(Has(text, "grid dp=2,tp=2\n")) << text;
  EXPECT_TRUE(Has(text, "a data loading, b forward")) << text;
  EXPECT_TRUE(Has(text, "  1 (dp 0, tp 1)  . .")) << text;
  EXPECT_TRUE(Has(text, "  2 (dp 1, tp 0)  + .")) << text;
  EXPECT_TRUE(Has(text, "steps from 10 on")) << text;
  EXPECT_TRUE(Has(text, "  2 (dp 1, tp 0)  ..#\n")) << text;
  EXPECT_TRUE(Has(text, "Communication that nothing hides")) << text;
}

// 1,000 ranks as pp=5,dp=25,tp=8: even parts of dp in a line, the worst rank of each.
TEST(RanksText, ManyRanksShareALine) {
  JobResult job = SmallJob();
  const RankTimes usual = job.ranks[0];
  job.grid = ParseGrid("pp=5,dp=25,tp=8").value();
  job.ranks.assign(1000, usual);
  job.steps.own_ns.assign(1000, {80e6, 80e6, 80e6});
  for (int32_t rank = 0; rank < 1000; ++rank) job.ranks[size_t(rank)].rank = rank;
  job.steps.own_ns[777][1] = 83e6;
  const std::string text = RanksAsText(job, {.unicode = false}, 10);
  EXPECT_TRUE(Has(text, "  760-799  .+.\n")) << text;
  EXPECT_TRUE(Has(text, "  800-839  ...\n")) << text;
}

TEST(RanksText, JsonHasGridAxesAndSteps) {
  JobResult job = SmallJob();
  job.pipeline = {.stages = {{0, 2, 100e6, 1e6}, {1, 2, 100e6, 3e6}}, .bubble = 0.02};
  const auto json = nlohmann::json::parse(RanksAsJson(job));
  EXPECT_EQ(json["grid"]["axes"][1]["name"], "tp");
  EXPECT_EQ(json["grid"]["found"], false);
  EXPECT_EQ(json["axes"][0]["exposed_ns"], 5e6);
  EXPECT_EQ(json["steps"]["own_ns"][2][2], 92'000'000);
  EXPECT_EQ(json["pipeline"]["stages"][1]["exposed_ns"], 3e6);
  job.grid.reset();
  job.pipeline.reset();
  EXPECT_TRUE(nlohmann::json::parse(RanksAsJson(job))["grid"].is_null());
}

}  // namespace
}  // namespace batchlight
