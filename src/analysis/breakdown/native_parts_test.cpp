#include "analysis/breakdown/native_parts.h"

#include <gtest/gtest.h>

#include <map>

#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr int64_t kMs = 1'000'000;

// Ten steps of 10 ms: a batch for 4 ms, forward for 4 ms that launches a kernel at its end, the
// optimizer. The GPU works for 1 ms of each.
struct SampledLoop {
  testing::StoreBuilder build;
  ThreadId thread = build.Thread(build.Process(1, "train.py"));

  SampledLoop() {
    for (int64_t step = 0; step < 10; ++step) {
      const int64_t at = step * 10 * kMs;
      build.Phase(thread, Phase::kDataLoaderNext, "Loader.__next__", at, at + 4 * kMs);
      build.Module(thread, "Net", "Net", at + 4 * kMs, at + 8 * kMs);
      build.Kernel(thread, "gemm", at + 8 * kMs - 10'000, at + 8 * kMs, at + 9 * kMs);
      build.Phase(thread, Phase::kOptimizerStep, "SGD.step", at + 9 * kMs, at + 10 * kMs);
    }
    Store& made = build.store();
    made.native_modules.Append({.path = build.Text("/lib/libwork.so")});
    for (const char* function : {"decode", "multiply"}) {
      made.native_frames.Append(
          {.module = NativeModuleId::At(0), .function = build.Text(function)});
      made.native_stacks.Append({.frame = NativeFrameId::At(made.native_frames.size() - 1)});
    }
  }
  void Sample(int64_t at_ns, size_t stack) {
    build.store().cpu_samples.Append({.start_ns = at_ns,
                                      .thread = thread,
                                      .cpu_ns = 5 * kMs,
                                      .native_stack = NativeStackId::At(stack)});
  }
};

std::map<std::pair<std::string, std::string>, uint64_t> SamplesByPart(const Store& store,
                                                                      const SampleParts& parts) {
  std::map<std::pair<std::string, std::string>, uint64_t> found;
  for (const NativeInPart& row : SumFunctionsByPart(store, parts)) {
    found[{row.part, std::string(store.Text(row.sum.function))}] = row.sum.samples;
  }
  return found;
}

TEST(NativeParts, ASampleBelongsToThePhaseAtItsMoment) {
  SampledLoop loop;
  for (int64_t step = 2; step < 8; ++step) {
    loop.Sample(step * 10 * kMs + kMs, 0);      // while it loads
    loop.Sample(step * 10 * kMs + 5 * kMs, 1);  // in forward
  }
  const Store store = loop.build.Build();
  const StepInputs inputs(store);
  const StepSet steps = FindSteps(inputs, {});
  ASSERT_EQ(steps.processes.size(), 1u);
  auto found = SamplesByPart(store, PhasesOfSamples(inputs, steps));
  EXPECT_EQ(found.size(), 2u);
  EXPECT_EQ((found[{"data loading", "decode"}]), 6u);
  EXPECT_EQ((found[{"forward", "multiply"}]), 6u);
}

TEST(NativeParts, OfIdleTimeASampleHasTheCause) {
  SampledLoop loop;
  for (int64_t step = 2; step < 8; ++step) {
    loop.Sample(step * 10 * kMs + kMs, 0);        // the GPU waits for data
    loop.Sample(step * 10 * kMs + 8'500'000, 1);  // it works
    loop.Sample(step * 10 * kMs + 7'000'000, 1);  // it waits for the model's Python
  }
  const Store store = loop.build.Build();
  const StepInputs inputs(store);
  const StepSet steps = FindSteps(inputs, {});
  auto found = SamplesByPart(store, IdleCausesOfSamples(inputs, steps));
  EXPECT_EQ(found.size(), 2u);
  EXPECT_EQ((found[{"data loading", "decode"}]), 6u);
  EXPECT_EQ((found[{std::string(IdleCause(GpuPart::kIdleModel)), "multiply"}]), 6u);
}

}  // namespace
}  // namespace batchlight
