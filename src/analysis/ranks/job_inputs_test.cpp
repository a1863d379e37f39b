#include "analysis/ranks/job_inputs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr int64_t kNoon = 1'700'000'000'000'000'000;
constexpr int64_t kMinute = 60'000'000'000;

InputIdentity Input(const std::string& label, std::set<int32_t> ranks, int32_t world_size = 0,
                    int64_t start_ns = kNoon) {
  return {.label = label,
          .job = "",
          .command = "train.py",
          .first_process = label,
          .version = "1",
          .ranks = std::move(ranks),
          .communicators = {},
          .world_size = world_size,
          .start_utc_ns = start_ns,
          .end_utc_ns = start_ns + kMinute};
}

std::string NotesOf(const JobPlan& plan) {
  std::string text;
  for (const std::string& note : plan.notes) text += note + "\n";
  for (const std::string& missing : plan.missing) text += "missing: " + missing + "\n";
  return text;
}

TEST(JobInputs, AreInOrderOfTheirRanks) {
  const auto plan =
      PlanJob(std::vector<InputIdentity>{Input("b", {2, 3}, 4), Input("a", {0, 1}, 4)});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().used, (std::vector<size_t>{1, 0}));
  EXPECT_EQ(NotesOf(plan.value()), "");
}

TEST(JobInputs, MissingRanksAreSaidFirst) {
  const auto plan = PlanJob(std::vector<InputIdentity>{Input("a", {0, 1}, 8), Input("b", {4}, 8)});
  ASSERT_TRUE(plan.ok());
  EXPECT_NE(NotesOf(plan.value()).find("missing: 5 of 8 ranks are missing (2-3, 5-7)"),
            std::string::npos)
      << NotesOf(plan.value());
}

// An input may claim any number: that costs neither time nor memory.
TEST(JobInputs, TwoThousandMillionRanksMayBeMissing) {
  const auto plan = PlanJob(std::vector<InputIdentity>{Input("a", {0, 1}, 2'000'000'000),
                                                       Input("b", {4}, 2'000'000'000)});
  ASSERT_TRUE(plan.ok());
  EXPECT_NE(NotesOf(plan.value())
                .find("missing: 1999999997 of 2000000000 ranks are missing (2-3, 5-1999999999)"),
            std::string::npos)
      << NotesOf(plan.value());
}

TEST(JobInputs, ACopyIsLeftOut) {
  InputIdentity copy = Input("copy", {0});
  copy.first_process = "a";
  const auto plan = PlanJob(std::vector<InputIdentity>{Input("a", {0}), copy});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().used, std::vector<size_t>{0});
  EXPECT_NE(NotesOf(plan.value()).find("copy is the same run as a"), std::string::npos);
}

TEST(JobInputs, TwoHoldersOfARankAreTwoJobs) {
  const auto plan =
      PlanJob(std::vector<InputIdentity>{Input("a", {0}), Input("b", {0}, 0, kNoon + 5 * kMinute)});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().kind(), ErrorKind::kInput);
  EXPECT_NE(plan.status().message().find("both have rank 0"), std::string::npos);
  EXPECT_NE(plan.status().message().find("2023-11-14"), std::string::npos);
}

TEST(JobInputs, OfAttemptsAtARankTheLastCounts) {
  InputIdentity first = Input("a", {0}), second = Input("b", {0}, 0, kNoon + 5 * kMinute);
  first.job = second.job = "TORCHELASTIC_RUN_ID 7";
  const auto plan = PlanJob(std::vector<InputIdentity>{second, first});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().used, std::vector<size_t>{0});
  EXPECT_NE(NotesOf(plan.value()).find("earlier attempt at rank 0"), std::string::npos);
}

TEST(JobInputs, NamesOfJobsThatDifferAreRefused) {
  InputIdentity a = Input("a", {0}), b = Input("b", {1});
  a.job = "SLURM_JOB_ID 12";
  b.job = "SLURM_JOB_ID 13";
  const auto plan = PlanJob(std::vector<InputIdentity>{a, b});
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.status().message().find("SLURM_JOB_ID 12, SLURM_JOB_ID 13"), std::string::npos);
}

TEST(JobInputs, WhoDoesNotSayItsRankGetsOneIfSomethingTiesItToTheOthers) {
  const auto plan = PlanJob(std::vector<InputIdentity>{Input("a", {0}), Input("b", {})});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().assigned, (std::vector<int32_t>{-1, 1}));
  EXPECT_NE(NotesOf(plan.value()).find("b does not say its rank: taken as rank 1"),
            std::string::npos);
  InputIdentity other = Input("b", {});
  other.command = "another.py";
  EXPECT_FALSE(PlanJob(std::vector<InputIdentity>{Input("a", {0}), other}).ok());
  EXPECT_FALSE(PlanJob(std::vector<InputIdentity>{other, Input("a", {0})}).ok());
  InputIdentity a = Input("a", {0});
  a.communicators = other.communicators = {77};
  EXPECT_TRUE(PlanJob(std::vector<InputIdentity>{a, other}).ok());
}

// As Ray starts them beside its ranks, by the same command line.
TEST(JobInputs, HelpersBesideRanksAreLeftOut) {
  std::vector<InputIdentity> inputs = {Input("h1", {}), Input("a", {0}, 2), Input("h2", {}),
                                       Input("b", {1}, 2)};
  inputs[0].trains = inputs[2].trains = false;
  inputs[2].command = "another.py";
  const auto plan = PlanJob(inputs);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan.value().used, (std::vector<size_t>{1, 3}));
  EXPECT_EQ(NotesOf(plan.value()),
            "h1 and 1 more say no rank and hold nothing of a training loop: left out\n");
  inputs = {Input("h1", {}), Input("a", {})};  // nobody says a rank
  inputs[0].trains = false;
  EXPECT_EQ(PlanJob(inputs).value().used.size(), 2u);
}

TEST(JobInputs, WhatIsOfATrainingLoopIsKnown) {
  const auto trains = [](bool collects, bool learns) {
    testing::StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(9, "train.py", -1));
    if (collects) build.Phase(thread, Phase::kGarbageCollection, "garbage collection", 1, 2);
    build.Operator(thread, "aten::manual_seed", 2, 3);
    if (learns) build.Phase(thread, Phase::kBackward, "backward", 3, 4);
    return IdentifyInput("a", build.Build()).trains;
  };
  EXPECT_FALSE(trains(true, false));
  EXPECT_TRUE(trains(true, true));
}

TEST(JobInputs, VersionsThatDifferAreSaid) {
  std::vector<InputIdentity> inputs = {Input("a", {0}), Input("b", {1}), Input("c", {2})};
  inputs[1].version = "";  // nsys's files say none
  inputs[2].version = "2";
  EXPECT_EQ(NotesOf(PlanJob(inputs).value()), "a was recorded by batchlight 1, c by 2\n");
}

TEST(JobInputs, RanksAreWrittenAsStretches) {
  EXPECT_EQ(RanksText({0, 1, 2, 3, 7}), "0-3, 7");
  EXPECT_EQ(RanksText({}), "");
}

}  // namespace
}  // namespace batchlight
