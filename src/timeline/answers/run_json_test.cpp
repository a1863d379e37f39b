#include "timeline/answers/run_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "analysis/testing/sample_run.h"
#include "analysis/testing/store_builder.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

using nlohmann::json;

class StepsOfARun : public ::testing::Test {
 protected:
  void Record(size_t steps) {
    store_ = testing::MakeSampleRun({.steps = steps});
    timeline_ = BuildTimeline(store_);
    json_ = RunJson(*timeline_, {})["steps"][0];
  }
  const std::vector<Step>& steps() const { return timeline_->steps().Main()->steps; }

  Store store_;
  std::unique_ptr<Timeline> timeline_;
  json json_;
};

TEST_F(StepsOfARun, SayWhichTookUnusuallyLongAndWhatKindEachIs) {
  Record(40);
  std::vector<size_t> outliers;
  for (size_t i = 0; i < steps().size(); ++i) {
    if (steps()[i].outlier) outliers.push_back(i);
  }
  ASSERT_FALSE(outliers.empty());
  EXPECT_EQ(json_["outlier"].get<std::vector<size_t>>(), outliers);
  const json& kinds = json_["kinds"];
  ASSERT_GT(kinds.size(), 1u);
  size_t run = 0;
  for (size_t i = 0; i < steps().size(); ++i) {
    if (run + 1 < kinds.size() && kinds[run + 1][0].get<size_t>() == i) ++run;
    EXPECT_EQ(kinds[run][1].get<std::string>(), StepKindName(steps()[i].kind)) << i;
  }
}

TEST_F(StepsOfARun, HaveTheirPhases) {
  Record(40);
  const json& phases = json_["phases"];
  EXPECT_EQ(phases["group"], 1);
  ASSERT_GT(phases["names"].size(), 3u);
  ASSERT_EQ(phases["names"].size(), phases["us"].size());
  for (size_t i = 0; i < steps().size(); ++i) {
    int64_t sum_us = 0;
    for (const json& of_phase : phases["us"]) sum_us += of_phase.at(i).get<int64_t>();
    EXPECT_NEAR(double(sum_us), double(steps()[i].duration_ns()) / 1000,
                double(phases["us"].size()))
        << i;
  }
}

TEST_F(StepsOfARun, AreOneNumberForSeveralWhereTheyAreMany) {
  Record(10'000);
  const json& phases = json_["phases"];
  const size_t group = phases["group"];
  EXPECT_EQ(group, (steps().size() + 4095) / 4096);
  size_t last = 0;
  for (const json& of_phase : phases["us"]) {
    EXPECT_EQ(of_phase.size(), (steps().size() + group - 1) / group);
    last += of_phase.back().get<size_t>();
  }
  // The last group may hold fewer steps, of which it is the mean as well.
  EXPECT_NEAR(double(last), double(steps().back().duration_ns()) / 1000,
              0.5 * double(steps().back().duration_ns()) / 1000);
}

// Names without digits, which tell ranges apart: "aaa", "aab".
std::string NameOfLetters(size_t number) {
  std::string name = "sample ";
  for (int i = 0; i < 3; ++i, number /= 26) name += char('a' + number % 26);
  return name;
}

TEST(RunJson, NamesTheLongestOfManyRangesAndSumsTheRest) {
  constexpr int64_t kSteps = 5'000;
  constexpr int64_t kStepNs = 100'000;
  testing::StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < kSteps; ++i) {
    const int64_t at_ns = i * kStepNs;
    build.Range(thread, "step", at_ns, at_ns + kStepNs);
    build.Range(thread, NameOfLetters(size_t(i)), at_ns + 1'000, at_ns + 11'000 + i);
    build.Range(thread, "longest", at_ns + 20'000, at_ns + 90'000);
  }
  const Store store = build.Build();
  const std::unique_ptr<Timeline> timeline = BuildTimeline(store);
  const json run = RunJson(*timeline, {});
  const json& phases = run["steps"][0]["phases"];
  const auto names = phases["names"].get<std::vector<int64_t>>();
  ASSERT_LE(names.size(), 20u);
  ASSERT_EQ(names.size(), phases["us"].size());
  EXPECT_LE(run["palettes"]["phase"].size(), 20u);
  EXPECT_LT(DumpJson(phases).size(), 500'000u);
  ASSERT_EQ(names.back(), -1) << "other ranges";
  std::set<std::string> labels;
  for (const json& entry : run["palettes"]["phase"]) {
    const bool named = std::count(names.begin(), names.end(), entry["name"].get<int64_t>()) == 1;
    EXPECT_TRUE(named) << entry;
    labels.insert(entry["label"]);
  }
  EXPECT_TRUE(labels.contains("longest"));
  EXPECT_TRUE(labels.contains(NameOfLetters(kSteps - 1)));
  EXPECT_FALSE(labels.contains(NameOfLetters(7)));
  EXPECT_NEAR(phases["us"].back()[0].get<double>(), 10, 1);
  EXPECT_EQ(phases["us"].back().back().get<int64_t>(), 0) << "these have names";
  for (size_t i = 0; i < phases["us"][0].size(); ++i) {
    int64_t sum_us = 0;
    for (const json& of_phase : phases["us"]) sum_us += of_phase.at(i).get<int64_t>();
    EXPECT_NEAR(double(sum_us), double(kStepNs) / 1000, double(names.size())) << i;
  }
}

}  // namespace
}  // namespace batchlight::timeline
