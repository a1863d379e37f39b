#include "analysis/counters/gpu_metric_parts.h"

#include <gtest/gtest.h>

#include <map>

#include "analysis/owners/backward_links.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr int64_t kMs = 1'000'000;

// Steps of 40 ms: 10 ms forward in three kernels, 10 ms backward in one, then nothing until the
// next step. Sampled each millisecond.
class GpuMetricParts : public ::testing::Test {
 protected:
  GpuMetricParts() {
    const ProcessId process = build_.Process(100, "train.py");
    const ThreadId thread = build_.Thread(process);
    Store& store = build_.store();
    store.gpus.Append({.device = 0, .uuid = build_.Text("uuid-a")});
    store.gpu_metrics.Append({.device = 3,
                              .uuid = build_.Text("uuid-a"),
                              .metric = build_.Text("sm"),
                              .unit = build_.Text("%"),
                              .interval_ns = kMs});
    for (int64_t step = 0; step < 20; ++step) {
      const int64_t start = step * 40 * kMs;
      build_.Range(thread, "step", start, start + 40 * kMs);
      build_.Module(thread, "net", "Net", start + 100, start + 1000);
      for (int64_t i = 0; i < 3; ++i) {
        build_.Kernel(thread, "small", start + 200 + i, start + 2000 + i * 3 * kMs,
                      start + 2000 + i * 3 * kMs + 2 * kMs);
      }
      build_.Phase(thread, Phase::kBackward, "backward", start + 1100, start + 1900);
      build_.Kernel(thread, "large", start + 1500, start + 10 * kMs, start + 20 * kMs);
      for (int64_t at = 0; at < 40; ++at) {
        const double value = at < 10 ? 30 : at < 20 ? 90 : 0;
        store.gpu_metric_samples.Append({.start_ns = start + at * kMs + 10'000,
                                         .device = 3,
                                         .metric = build_.Text("sm"),
                                         .value = value});
      }
    }
  }

  testing::StoreBuilder build_;
};

TEST_F(GpuMetricParts, BySeeingWhatTheGpuDid) {
  const Store store = build_.Build();
  const StepInputs inputs(store);
  const StepSet steps = FindSteps(inputs, {});
  ASSERT_NE(steps.Main(), nullptr);
  const BackwardLinks links(store);
  const auto parts = SumGpuMetricParts(inputs, steps, AttributeWork(store, links));
  std::map<std::pair<std::string_view, std::string>, const GpuMetricPart*> found;
  for (const GpuMetricPart& part : parts) {
    EXPECT_EQ(part.device, 3u) << "as in gpu_metrics";
    EXPECT_EQ(store.Text(part.unit), "%");
    found[{MetricPartKindName(part.kind), part.name}] = &part;
  }
  const auto mean = [&](std::string_view kind, const std::string& name) {
    const auto part = found.find({kind, name});
    return part == found.end() ? -1 : part->second->mean;
  };
  EXPECT_DOUBLE_EQ(mean("phase", "forward"), 30);
  EXPECT_DOUBLE_EQ(mean("phase", "backward"), 90);
  EXPECT_DOUBLE_EQ(mean("kernel", "large"), 90);
  EXPECT_DOUBLE_EQ(mean("kernel", "small"), -1) << "shorter than three intervals";
  double idle = 0;
  for (const auto& [key, part] : found) {
    if (key.first == "idle") idle = std::max(idle, part->mean + double(part->samples));
  }
  EXPECT_GT(idle, 19) << "twenty milliseconds of each step, in which nothing was active";
}

TEST_F(GpuMetricParts, GpusThatAllProcessesCallZeroAreNotTakenForOne) {
  build_.store().gpus.Append({.device = 0, .uuid = build_.Text("uuid-b")});
  const Store store = build_.Build();
  const StepInputs inputs(store);
  const BackwardLinks links(store);
  EXPECT_TRUE(
      SumGpuMetricParts(inputs, FindSteps(inputs, {}), AttributeWork(store, links)).empty());
}

TEST_F(GpuMetricParts, NothingSampledNothingSummed) {
  build_.store().gpu_metric_samples = {};
  const Store store = build_.Build();
  const StepInputs inputs(store);
  EXPECT_TRUE(SumGpuMetricParts(inputs, FindSteps(inputs, {}), {}).empty());
}

}  // namespace
}  // namespace batchlight
