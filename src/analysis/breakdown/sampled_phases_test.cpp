#include "analysis/breakdown/sampled_phases.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

// Ten steps of 4 ms: data loading, forward, then Python of the loop. Looks come every 5 ms, so each
// stands for more than a phase, and belongs to the one at its moment.
TEST(SampledPhases, ALookBelongsToThePhaseAtItsMoment) {
  constexpr int64_t kMs = 1'000'000;
  testing::StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t at = step * 4 * kMs;
    build.Phase(thread, Phase::kDataLoaderNext, "Loader.__next__", at, at + kMs);
    build.Module(thread, "Net", "Net", at + kMs, at + 2 * kMs);
    build.Phase(thread, Phase::kOptimizerStep, "SGD.step", at + 4 * kMs - 1000, at + 4 * kMs);
  }
  Store& made = build.store();
  for (const char* function : {"load", "forward", "metric"}) {
    made.python_frames.Append({.file = build.Text("/u/train.py"),
                               .function = build.Text(function),
                               .first_line = uint32_t(made.python_frames.size() + 1)});
    made.python_stacks.Append({.frame = PythonFrameId::At(made.python_frames.size() - 1)});
  }
  const auto look = [&](int64_t from_us, int64_t to_us, uint32_t looks, size_t function) {
    made.python_samples.Append({.start_ns = from_us * 1000,
                                .end_ns = to_us * 1000,
                                .thread = thread,
                                .python_stack = PythonStackId::At(function),
                                .samples = looks});
  };
  look(8'500, 13'500, 1, 1);   // in forward, at 13.5
  look(13'500, 18'500, 1, 2);  // in the rest, at 18.5
  look(18'500, 20'500, 1, 0);  // in data loading, at 20.5
  look(20'500, 30'500, 2, 2);  // at 25.5 in forward, at 30.5 in the rest
  const Store store = build.Build();
  const StepInputs inputs(store);
  const StepSet steps = FindSteps(inputs, {});
  ASSERT_EQ(steps.processes.size(), 1u);
  std::map<std::pair<std::string, std::string>, std::pair<uint64_t, uint64_t>> found;
  for (const SampledInPhase& row : SumSamplesByPhase(inputs, steps)) {
    found[{std::string(PhaseKindName(row.phase)), std::string(store.Text(row.function))}] = {
        row.looks, row.phase_looks};
    EXPECT_GT(row.longest.duration_ns(), 0);
    EXPECT_LE(row.longest.duration_ns(), row.phase_ns);
  }
  using Looks = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(found.size(), 4u);
  EXPECT_EQ((found[{"data loading", "load"}]), Looks(1, 1));
  EXPECT_EQ((found[{"forward", "forward"}]), Looks(1, 2));
  EXPECT_EQ((found[{"forward", "metric"}]), Looks(1, 2));
  EXPECT_EQ((found[{"other", "metric"}]), Looks(2, 2));
}

// A function that goes on from line to line is one stretch, whatever number of records it has, as
// far as looks in one phase go.
TEST(SampledPhases, TheLongestGoesOverRecords) {
  constexpr int64_t kMs = 1'000'000;
  testing::StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t at = step * 100 * kMs;
    build.Phase(thread, Phase::kDataLoaderNext, "Loader.__next__", at, at + 60 * kMs);
    build.Phase(thread, Phase::kOptimizerStep, "SGD.step", at + 90 * kMs, at + 100 * kMs);
  }
  Store& made = build.store();
  for (uint32_t line = 1; line <= 2; ++line) {
    made.python_frames.Append({.file = build.Text("/u/train.py"),
                               .function = build.Text("load"),
                               .first_line = 1,
                               .line = line});
    made.python_stacks.Append({.frame = PythonFrameId::At(line - 1)});
  }
  for (int64_t at = 485; at < 590; at += 10) {
    made.python_samples.Append({.start_ns = at * kMs,
                                .end_ns = (at + 10) * kMs,
                                .thread = thread,
                                .python_stack = PythonStackId::At(size_t(at / 10 % 2)),
                                .samples = 1});
  }
  const Store store = build.Build();
  const StepInputs inputs(store);
  std::map<std::string, TimeSpan> found;
  for (const SampledInPhase& row : SumSamplesByPhase(inputs, FindSteps(inputs, {}))) {
    found[std::string(PhaseKindName(row.phase))] = row.longest;
  }
  EXPECT_EQ(found["data loading"], (TimeSpan{500 * kMs, 555 * kMs}));
}

}  // namespace
}  // namespace batchlight
