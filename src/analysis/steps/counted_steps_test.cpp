#include <gtest/gtest.h>

#include "analysis/steps/steps.h"
#include "analysis/testing/store_builder.h"
#include "store/stall_samples.h"

namespace batchlight {
namespace {

constexpr int64_t kStepNs = 1'000'000;

TEST(CountedSteps, ThoseInWhichCountersWereSwitchedStandForNoOthers) {
  for (const bool each_kernel : {false, true}) {
    testing::StoreBuilder build;
    const ProcessId process = build.Process(100, "train.py");
    const ThreadId thread = build.Thread(process);
    for (int64_t i = 0; i < 20; ++i) build.Range(thread, "step", i * kStepNs, (i + 1) * kStepNs);
    const auto counted = [&](int64_t step, int64_t switch_ns) {
      build.store().counter_ranges.Append({.start_ns = step * kStepNs,
                                           .end_ns = (step + 1) * kStepNs,
                                           .process = process,
                                           .kernels = each_kernel ? 9u : 0u,
                                           .switch_ns = switch_ns});
    };
    counted(8, kStepNs / 2);
    counted(12, kStepNs / 100);  // that costs nothing
    const StepSet set = FindSteps(build.Build());
    ASSERT_NE(set.Main(), nullptr);
    const auto kind = [&](size_t step) { return set.Main()->steps[step].kind; };
    for (const size_t step : {7, 8, 9}) EXPECT_EQ(kind(step), StepKind::kCounted) << step;
    EXPECT_EQ(kind(12), each_kernel ? StepKind::kCounted : StepKind::kSteady);
    EXPECT_EQ(kind(11), StepKind::kSteady);
    EXPECT_EQ(set.Main()->steady.size(), each_kernel ? 16u : 17u);
  }
}

TEST(CountedSteps, CountersAreSwitchedAroundStepsInARow) {
  testing::StoreBuilder build;
  const ProcessId process = build.Process(100, "train.py");
  const ThreadId thread = build.Thread(process);
  for (int64_t i = 0; i < 30; ++i) build.Range(thread, "step", i * kStepNs, (i + 1) * kStepNs);
  // Steps 10 and 11; before them switching took the time of five, after them that of one.
  for (const auto& [step, switch_ns] : {std::pair{10, 5 * kStepNs}, std::pair{11, kStepNs}}) {
    build.store().counter_ranges.Append({.start_ns = step * kStepNs + 2'000,
                                         .end_ns = (step + 1) * kStepNs,
                                         .process = process,
                                         .counter_set = build.store().strings.Intern("essentials"),
                                         .switch_ns = switch_ns});
  }
  const StepSet set = FindSteps(build.Build());
  ASSERT_NE(set.Main(), nullptr);
  for (size_t step = 3; step < 30; ++step) {
    EXPECT_EQ(set.Main()->steps[step].kind,
              step >= 5 && step <= 12 ? StepKind::kCounted : StepKind::kSteady)
        << step;
  }
}

// A slow step at the begin of a part is no warm-up of it, and one that warms up is so also alone.
TEST(CountedSteps, AreWhatTheyAreInWhicheverPart) {
  testing::StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  int64_t now = 0;
  for (int i = 0; i < 40; ++i) {
    const bool is_long = i < 2 || i == 24;  // two that warm up, one whose batch came late
    const int64_t end = now + (is_long ? 2'000 : 100 + i % 3);
    build.Range(thread, "step", now, end);
    now = end;
  }
  const Store store = build.Build();
  const auto kind = [](const StepSet& set, size_t step) { return set.Main()->steps[step].kind; };
  ASSERT_EQ(kind(FindSteps(store), 1), StepKind::kWarmUp);
  for (const int64_t last : {24, 25, 28, 33}) {
    const StepSet part = FindSteps(store, {.first_step = 24, .last_step = last});
    EXPECT_EQ(kind(part, 24), StepKind::kSteady) << last;
    EXPECT_EQ(part.Main()->steady.size(), static_cast<size_t>(last - 23));
  }
  const StepSet start = FindSteps(store, {.first_step = 0, .last_step = 1});
  EXPECT_EQ(kind(start, 0), StepKind::kWarmUp);
  EXPECT_EQ(start.Main()->steady, (std::vector<uint32_t>{0, 1})) << "none is steady: all count";
}

// Steps of `lengths`, those from 3 to 6 with a look of the recorder.
std::vector<StepKind> KindsWithLooks(const std::vector<int64_t>& lengths) {
  testing::StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(100, "train.py"));
  int64_t at_ns = 0;
  for (size_t step = 0; step < lengths.size(); ++step) {
    build.Range(thread, "step", at_ns, at_ns + lengths[step]);
    if (step >= 3 && step <= 6) {
      build.Phase(thread, Phase::kLook, "look at the model", at_ns + 1'000, at_ns + 1'000);
    }
    at_ns += lengths[step];
  }
  const StepSet set = FindSteps(build.Build());
  std::vector<StepKind> kinds;
  if (set.Main() == nullptr) return kinds;
  for (const Step& step : set.Main()->steps) kinds.push_back(step.kind);
  return kinds;
}

TEST(CountedSteps, ThoseInWhichTheRecorderLooksAtTheModelStandForNoOthers) {
  std::vector<int64_t> lengths(20, kStepNs);
  lengths[0] = 30 * kStepNs;
  for (size_t step = 3; step <= 6; ++step) lengths[step] = 3 * kStepNs / 2;
  std::vector<StepKind> expected(20, StepKind::kSteady);
  expected[0] = StepKind::kWarmUp;
  for (size_t step = 3; step <= 6; ++step) expected[step] = StepKind::kLookedAt;
  EXPECT_EQ(KindsWithLooks(lengths), expected);
  // Of a short run they are most of what there is.
  EXPECT_EQ(KindsWithLooks(std::vector<int64_t>(7, kStepNs)),
            std::vector<StepKind>(7, StepKind::kSteady));
}

TEST(CountedSteps, ThoseWhoseKernelsWereSampledOneAfterTheOther) {
  testing::StoreBuilder build;
  const ProcessId process = build.Process(100, "train.py");
  const ThreadId thread = build.Thread(process);
  for (int64_t i = 0; i < 20; ++i) build.Range(thread, "step", i * 1000, (i + 1) * 1000);
  const auto sampled = [&](int64_t step, std::string_view how) {
    build.store().counter_ranges.Append({.start_ns = step * 1000,
                                         .end_ns = (step + 1) * 1000,
                                         .process = process,
                                         .counter_set = build.store().strings.Intern(how),
                                         .switch_ns = 5});
  };
  sampled(8, kSerializedStalls);
  sampled(12, kContinuousStalls);
  const StepSet set = FindSteps(build.Build());
  ASSERT_NE(set.Main(), nullptr);
  EXPECT_EQ(set.Main()->steps[8].kind, StepKind::kCounted);
  EXPECT_EQ(set.Main()->steps[12].kind, StepKind::kSteady);
}

}  // namespace
}  // namespace batchlight
