#include "timeline/answers/run_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/testing/sample_run.h"
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

}  // namespace
}  // namespace batchlight::timeline
