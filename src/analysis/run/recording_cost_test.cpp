#include "analysis/run/recording_cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string_view>

#include "analysis/testing/plain_marks.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

// Four steps of 1 ms; in each ten kernels, two operators and one range besides the step's own.
Store TrainingRun(bool with_costs) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  const ThreadId other = build.Thread(build.Process(101, "loader"));
  for (int64_t step = 0; step < 4; ++step) {
    const int64_t start = step * 1'000'000;
    build.Range(main, "step", start, start + 900'000);
    build.Range(main, "forward", start + 1000, start + 500'000);
    build.Range(other, "forward", start + 1000, start + 500'000);
    for (int64_t i = 0; i < 10; ++i) {
      const int64_t at = start + 10'000 + i * 1000;
      build.Kernel(main, "gemm", at, at + 100, at + 600);
    }
    for (int64_t i = 0; i < 2; ++i) {
      build.Operator(main, "aten::mm", start + 20'000 + i * 1000, start + 20'500 + i * 1000);
    }
  }
  if (with_costs) {
    build.Property("cost.range_ns", "50.0");
    build.Property("cost.operator_ns", "100.0");
    build.Property("cost.cuda_call_ns", "37.0");
  }
  return build.Build();
}

TEST(RecordingCost, AddsUpWhatAStepHolds) {
  const Store store = TrainingRun(true);
  const RecordingCost cost = FindRecordingCost(store, FindSteps(store));
  ASSERT_EQ(cost.kinds.size(), 3u);
  EXPECT_EQ(cost.kinds[0].what, "GPU events");
  EXPECT_DOUBLE_EQ(cost.kinds[0].per_step, 10);
  EXPECT_EQ(cost.kinds[1].what, "operators");
  EXPECT_DOUBLE_EQ(cost.kinds[1].per_step, 2);
  EXPECT_EQ(cost.kinds[2].what, "ranges");
  EXPECT_DOUBLE_EQ(cost.kinds[2].per_step, 2) << "of the training process only";
  EXPECT_DOUBLE_EQ(cost.high_ns, 10 * cost.kinds[0].ns_each + 5 * (2 * 100 + 2 * 50));
  EXPECT_DOUBLE_EQ(cost.low_ns, 0) << "the GPU may hide it";
  EXPECT_FALSE(cost.measured);
}

// Of 20,000 calls a step as many are counted, and cost the program 2 ms; others have a stack.
TEST(RecordingCost, HoldsCallsStacksSamplesAndSwitches) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  constexpr int64_t kStepNs = 12'000'000;
  Store& store = build.store();
  for (int64_t step = 0; step < 20; ++step) {
    const int64_t start = step * kStepNs;
    build.Range(main, "step", start, start + kStepNs - 1000);
    for (int64_t i = 0; i < 100; ++i) {
      store.os_calls.Append({.start_ns = start + 1000 + i * 1000,
                             .end_ns = start + 1500 + i * 1000,
                             .thread = main,
                             .name = build.Text("read"),
                             .native_stack = NativeStackId::At(0)});
    }
    store.cpu_samples.Append({.start_ns = start + 2000, .thread = main});
    store.cpu_switches.Append({.start_ns = start + 3000, .thread = main});
  }
  store.os_call_counts.Append({.thread = main, .name = build.Text("read"), .calls = 20 * 20'000});
  store.native_stacks.Append({});
  store.threads.start_ns[main.row()] = 0;
  store.threads.end_ns[main.row()] = 20 * kStepNs;
  build.Property("cost.range_ns", "50.0");
  const Store built = build.Build();
  const RecordingCost cost = FindRecordingCost(built, FindSteps(built));
  std::map<std::string_view, double> per_step;
  for (const RecordedKind& kind : cost.kinds) per_step[kind.what] = kind.per_step;
  EXPECT_NEAR(per_step["counted calls"], 20'000, 200);
  EXPECT_DOUBLE_EQ(per_step["calls of the C library"], 100);
  EXPECT_DOUBLE_EQ(per_step["native stacks"], 100);
  EXPECT_DOUBLE_EQ(per_step["CPU samples"], 1);
  EXPECT_DOUBLE_EQ(per_step["context switches"], 1);
  EXPECT_LT(cost.low_ns, 2'100'000);
  EXPECT_GT(cost.high_ns, 2'100'000);
}

// A hundred kernels in the first of five steps, which is slow and set apart as warm-up, none later.
TEST(RecordingCost, CountsTheStepsThatCount) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  for (int64_t i = 0; i < 100; ++i) {
    build.Kernel(main, "gemm", 10'000 + i * 1000, 10'100 + i * 1000, 10'600 + i * 1000);
  }
  build.Range(main, "step", 0, 10'000'000);
  for (int64_t step = 0; step < 20; ++step) {
    build.Range(main, "step", 10'000'000 + step * 1'000'000, 10'900'000 + step * 1'000'000);
  }
  build.Property("cost.range_ns", "50.0");
  const Store store = build.Build();
  const StepSet steps = FindSteps(store);
  ASSERT_EQ(steps.Main()->steady.size(), 20u);
  const RecordingCost cost = FindRecordingCost(store, steps);
  ASSERT_EQ(cost.kinds.size(), 1u);
  EXPECT_EQ(cost.kinds[0].what, "ranges");
  EXPECT_DOUBLE_EQ(cost.high_ns, 5 * 50);
  EXPECT_DOUBLE_EQ(cost.low_ns, 50);
}

// Nothing is measured in a program that begins outside of its windows: 64 us of 265 were told
// as 1.93 to 12.4, as if operators were ranges.
TEST(RecordingCost, OfARunOfWindowsKnowsWhatOperatorsTake) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  for (int64_t step = 0; step < 20; ++step) {
    const int64_t start = step * 265'000;
    build.Range(main, "step", start, start + 264'000);
    build.Module(main, "Net", "Net", start + 500, start + 90'000);
    for (int64_t i = 0; i < 88; ++i) {
      build.Operator(main, "aten::mm", start + 1000 + i * 1000, start + 1500 + i * 1000);
    }
    for (int64_t i = 0; i < 3; ++i) {
      build.Phase(main, Phase::kZeroGrad, "zero_grad", start + 100'000 + i * 9000,
                  start + 101'000 + i * 9000);
    }
  }
  build.Property("cost.range_ns", "20.0");
  const Store store = build.Build();
  const RecordingCost cost = FindRecordingCost(store, FindSteps(store));
  EXPECT_GE(cost.low_ns, 10'000);
  EXPECT_LE(cost.low_ns, 64'000);
  EXPECT_GE(cost.high_ns, 64'000);
}

// A step cannot be longer by more than what its GPU idles: it takes as long as its work there.
TEST(RecordingCost, ABusyGpuHidesIt) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  for (int64_t step = 0; step < 4; ++step) {
    const int64_t start = step * 1'000'000;
    build.Range(main, "step", start, start + 1'000'000);
    for (int64_t i = 0; i < 100; ++i) {
      const int64_t at = start + i * 10'000;
      build.Kernel(main, "gemm", at, at + 50, at + 9'950);
    }
  }
  build.Property("cost.range_ns", "50.0");
  const Store store = build.Build();
  const RecordingCost cost = FindRecordingCost(store, FindSteps(store));
  EXPECT_NEAR(cost.high_ns, 100 * 100 + 100 * 300, 1) << "100 kernels at 3.6 us would be 360 us";
}

// Replays of a graph keep the GPU busy, and each takes longer all the same.
TEST(RecordingCost, AGraphIsDearerThanAKernel) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  for (int64_t step = 0; step < 8; ++step) {
    build.Range(main, "step", step * 1'000'000, (step + 1) * 1'000'000);
    build.store().graph_launches.Append(
        {.start_ns = step * 1'000'000, .end_ns = (step + 1) * 1'000'000, .process = ProcessId(0)});
  }
  build.Property("cost.range_ns", "50.0");
  const Store store = build.Build();
  const RecordingCost cost = FindRecordingCost(store, FindSteps(store));
  ASSERT_FALSE(cost.kinds.empty());
  EXPECT_EQ(cost.kinds[0].what, "CUDA graphs");
  EXPECT_GE(cost.high_ns, 29'000);
  EXPECT_DOUBLE_EQ(cost.low_ns, 0);
}

// Costs that were measured while something slowed the process down.
TEST(RecordingCost, IsNeverMoreThanHalfOfAStep) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  for (int64_t step = 0; step < 8; ++step) {
    build.Range(main, "step", step * 10'000, step * 10'000 + 10'000);
    build.Operator(main, "aten::add", step * 10'000 + 10, step * 10'000 + 5'000);
  }
  build.Property("cost.range_ns", "50.0");
  build.Property("cost.operator_ns", "9000.0");
  const Store store = build.Build();
  const RecordingCost cost = FindRecordingCost(store, FindSteps(store));
  EXPECT_DOUBLE_EQ(cost.high_ns, 5'000);
  EXPECT_DOUBLE_EQ(cost.low_ns, 5'000);
  EXPECT_DOUBLE_EQ(cost.Share(cost.high_ns), 1) << "twice as long as without";
}

// Steps of 1 ms; every eighth has no detail, is 0.1 ms shorter, but switching took 0.02 ms of it.
// With `kernels`, a hundred of them in each step with detail. With `phases`, ten in each step.
Store WithPlainSteps(int64_t count, bool kernels = false, bool phases = false) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  int64_t now = 0;
  for (int64_t i = 0; i < count; ++i) {
    const bool plain = i % 8 == 4;
    const int64_t end = now + (plain ? 920'000 : 1'000'000) + i % 3 * 1000;
    build.Range(main, "step", now, end);
    if (plain) {
      testing::PlainMark(build, main, false, now + 20'000, 20'000);
      testing::PlainMark(build, main, true, end + 20'000, 20'000);
    }
    for (int64_t at = now + 50'000; kernels && !plain && at < now + 850'000; at += 8'000) {
      build.Kernel(main, "gemm", at, at + 50, at + 550);
    }
    for (int64_t at = now + 100'000; phases && at < now + 600'000; at += 50'000) {
      build.Phase(main, Phase::kZeroGrad, "zero_grad", at, at + 1000);
    }
    now = end;
  }
  build.Property("cost.range_ns", phases ? "1.0" : "50.0");
  if (phases) build.Property("cost.phase_ns", "250.0");
  build.Property(kOverheadBudgetKey, "0.03");
  return build.Build();
}

// A loop that stops for longer than a step in half of them: the comparison could say anything.
// Launches of graphs take the CPU 0.2 ms a step, and each 24th step waits for all of them.
TEST(RecordingCost, OfACpuThatRunsAheadIsOfWhatTheGpuTakes) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  int64_t at = 0;
  for (int64_t step = 0; step < 48; ++step) {
    const int64_t length = step % 24 == 23 ? 240'000'000 : 200'000;
    build.Range(main, "step", at, at + length - 1000);
    for (int64_t i = 0; i < 15; ++i) {
      build.Operator(main, "aten::mm", at + 1000 + i * 1000, at + 1500 + i * 1000);
    }
    at += length;
  }
  build.Property("cost.range_ns", "2000");
  build.Property("cost.operator_ns", "20000");
  const Store store = build.Build();
  RecordingCost cost = FindRecordingCost(store, FindSteps(store));
  EXPECT_DOUBLE_EQ(cost.high_ns, 100'000) << "half of 0.2 ms";
  OfGpu(cost, 11'000'000);
  const double high_ns = cost.high_ns;
  EXPECT_GT(high_ns, 1'000'000) << "five times 15 operators";
  EXPECT_DOUBLE_EQ(cost.step_ns, 11'000'000);
  EXPECT_DOUBLE_EQ(cost.Share(high_ns), high_ns / (11'000'000 - high_ns));
  OfGpu(cost, 100'000);
  EXPECT_DOUBLE_EQ(cost.step_ns, 11'000'000) << "the CPU is the limit";
}

// Every fifth step has 400 ranges, the others none: the mean is far above the median.
TEST(RecordingCost, OfStepsOfUnlikeLengthsIsNeverMoreThanHalfOfAStep) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  int64_t at = 0;
  for (int64_t step = 0; step < 50; ++step) {
    const int64_t ranges = step % 5 == 4 ? 400 : 0;
    const int64_t end = at + 300'000 + ranges * 60'000;
    build.Range(main, "step", at, end);
    for (int64_t i = 0; i < ranges; ++i) {
      build.Range(main, "part", at + i * 60'000 + 10, at + i * 60'000 + 50'000);
    }
    at = end;
  }
  build.Property("cost.range_ns", "2000");
  const Store store = build.Build();
  const RecordingCost cost = FindRecordingCost(store, FindSteps(store));
  EXPECT_LE(cost.high_ns, cost.step_ns / 2);
  EXPECT_LE(cost.Share(cost.high_ns), 1.0);
}

TEST(RecordingCost, IsNotMeasuredOnStepsThatSayNothing) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  int64_t now = 0;
  for (int64_t i = 0; i < 160; ++i) {
    const int64_t end = now + (i % 16 == 4 ? 31'000'000 : 1'000'000);
    build.Range(main, "step", now, end);
    if (i % 8 == 4) {
      testing::PlainMark(build, main, false, now + 20'000, 20'000);
      testing::PlainMark(build, main, true, end + 20'000, 20'000);
    }
    now = end;
  }
  build.Property("cost.range_ns", "50.0");
  const Store store = build.Build();
  const RecordingCost cost = FindRecordingCost(store, FindSteps(store));
  EXPECT_FALSE(cost.measured) << "said would be 3 % +- 1500";
  EXPECT_FALSE(cost.kinds.empty()) << "the estimate stays";
}

TEST(RecordingCost, IsMeasuredOnStepsWithoutDetail) {
  const Store store = WithPlainSteps(160);
  const RecordingCost cost = FindRecordingCost(store, FindSteps(store));
  ASSERT_TRUE(cost.measured);
  EXPECT_EQ(cost.measured->samples, 20u);
  EXPECT_NEAR(cost.measured->ns, 100'000, 1000);
  EXPECT_LE(cost.measured->low_ns, 100'000);
  EXPECT_GE(cost.measured->high_ns, 100'000);
  EXPECT_NEAR(cost.plain_step_ns, 901'000, 2000);
  EXPECT_NEAR(cost.Share(cost.measured->ns), 0.111, 0.002);
  EXPECT_EQ(cost.detailed_steps, 140u);
  EXPECT_EQ(cost.plain_steps, 20u);
  EXPECT_NEAR(cost.MeanShare(), 0.111 * 140 / 160, 0.002);
  EXPECT_DOUBLE_EQ(cost.budget, 0.03);
}

// Nothing but kernels is recorded, and half of what CUPTI costs for them is in steps without detail
// too.
TEST(RecordingCost, AddsWhatCuptiCostsInStepsWithoutDetail) {
  const Store store = WithPlainSteps(160, true);
  const RecordingCost cost = FindRecordingCost(store, FindSteps(store));
  ASSERT_TRUE(cost.measured);
  EXPECT_NEAR(cost.kept_ns, 100'000, 1000);
  EXPECT_NEAR(cost.measured->ns, 200'000, 2000);
  EXPECT_LE(cost.measured->low_ns, 100'000) << "the estimate may be of nothing";
  EXPECT_GE(cost.measured->high_ns, 300'000) << "or of twice as much";
  EXPECT_NEAR(cost.plain_step_ns, 801'000, 2000);
  EXPECT_NEAR(cost.MeanShare(), (200.0 * 140 + 100.0 * 20) / 801 / 160, 0.002);
}

// Phases are recorded in all steps.
TEST(RecordingCost, AddsWhatPhasesCostInStepsWithoutDetail) {
  const Store store = WithPlainSteps(160, false, true);
  const RecordingCost cost = FindRecordingCost(store, FindSteps(store));
  ASSERT_TRUE(cost.measured);
  EXPECT_NEAR(cost.kept_ns, 10 * 20 * 250, 100);
  EXPECT_NEAR(cost.measured->ns, 150'000, 1000);
  EXPECT_LE(cost.measured->low_ns, 102'500 + 1000) << "as in a tight loop";
  EXPECT_GE(cost.measured->high_ns, 225'000 - 1000) << "or fifty times as much";
}

// A run whose steps take `step_us` alone, `added_us` more with detail, and `kept_us` more with and
// without: three phases, which take 0.3 us each in a tight loop.
Store SimulatedRun(uint64_t seed, double step_us, double added_us, double kept_us) {
  testing::StoreBuilder build;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(1, 0.02);
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  int64_t now = 0;
  for (int64_t i = 0; i < 320; ++i) {
    const bool plain = i >= 20 && i % 8 == 4;
    const double us = step_us * noise(random) + kept_us + (plain ? 0 : added_us);
    const int64_t end = now + int64_t(1000 * us);
    build.Range(main, "step", now, end);
    for (int64_t phase = 1; phase <= 3; ++phase) {
      const int64_t at = now + phase * (end - now) / 5;
      build.Phase(main, Phase::kZeroGrad, "zero_grad", at, at + 1000);
    }
    if (plain) {
      testing::PlainMark(build, main, false, now + 1000, 1000);
      testing::PlainMark(build, main, true, end + 1000, 1000);
    }
    now = end + (plain ? 1000 : 0);
  }
  build.Property("cost.range_ns", "1.0");
  build.Property("cost.phase_ns", "300.0");
  return build.Build();
}

// Whatever steps without detail cost themselves, between a tight loop and what was seen (42 us).
TEST(RecordingCost, HoldsTheTruthInShortStepsToo) {
  for (const double step_us : {200.0, 300.0, 1000.0, 5000.0, 20'000.0}) {
    int holds = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      const double kept_us = 0.9 * std::pow(42 / 0.9, double(seed) / 99);
      const double added_us = 40 + 0.05 * step_us;
      const Store store = SimulatedRun(seed, step_us, added_us, kept_us);
      const RecordingCost cost = FindRecordingCost(store, FindSteps(store));
      ASSERT_TRUE(cost.measured) << step_us;
      const double truth_ns = 1000 * (added_us + kept_us);
      holds += cost.measured->low_ns <= truth_ns && truth_ns <= cost.measured->high_ns;
    }
    EXPECT_GE(holds, 95) << step_us << " us";
  }
}

TEST(RecordingCost, FewStepsWithoutDetailSayNothing) {
  const Store store = WithPlainSteps(40);
  const RecordingCost cost = FindRecordingCost(store, FindSteps(store));
  EXPECT_FALSE(cost.measured);
  EXPECT_EQ(cost.plain_steps, 5u);
  EXPECT_TRUE(cost.known());
  EXPECT_DOUBLE_EQ(cost.high_ns, 5 * 50);
}

TEST(RecordingCost, UnknownOfOtherTools) {
  const Store store = TrainingRun(false);
  EXPECT_FALSE(FindRecordingCost(store, FindSteps(store)).known());
  EXPECT_FALSE(FindRecordingCost(Store{}, StepSet{}).known());
}

}  // namespace
}  // namespace batchlight
