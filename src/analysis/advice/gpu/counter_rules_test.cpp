#include <gtest/gtest.h>

#include <map>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;

constexpr std::string_view kTensor =
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kIssue = "smsp__issue_active.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kElementwise =
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>()";

struct Kernel {
  std::string_view name;
  std::map<std::string_view, double> values;
};

// Twenty steps of two kernels, of which one was measured kernel by kernel.
std::vector<Finding> Advise(const std::vector<Kernel>& kernels) {
  testing::StoreBuilder build;
  const ProcessId process = build.Process(100, "train.py");
  const ThreadId thread = build.Thread(process);
  Store& store = build.store();
  for (int64_t step = 0; step < 20; ++step) {
    const int64_t start = step * 100 * kMs;
    build.Range(thread, "step", start, start + 100 * kMs);
    for (size_t i = 0; i < kernels.size(); ++i) {
      const int64_t at = start + int64_t(i) * 50 * kMs;
      build.Kernel(thread, kernels[i].name, at + 1000, at + 2000, at + 50 * kMs);
    }
  }
  store.counter_ranges.Append({.start_ns = 10 * 100 * kMs,
                               .end_ns = 11 * 100 * kMs,
                               .process = process,
                               .range = 1,
                               .kernels = uint32_t(kernels.size())});
  for (size_t i = 0; i < kernels.size(); ++i) {
    const auto value = [&](std::string_view metric, double number) {
      store.counter_values.Append({.process = process,
                                   .range = 1,
                                   .launch = uint32_t(i + 1),
                                   .metric = build.Text(metric),
                                   .value = number});
    };
    value("gpu__time_duration.sum", 50.0 * double(kMs));
    for (const auto& [metric, number] : kernels[i].values) value(metric, number);
  }
  Store built = build.Build();
  for (uint32_t& context : built.kernels.context) context = 0;
  return BuildOverview(built).findings;
}

TEST(CounterRules, KernelsThatOnlyMoveData) {
  const auto found =
      Advise({{kElementwise, {{kIssue, 20}, {kDram, 90}, {"dram__bytes_read.sum", 3e9}}},
              {"nvjet_tst_128x256", {{kTensor, 80}, {kDram, 20}}}});
  const Finding* const finding = FindRule(found, "memory-bound-kernels");
  ASSERT_NE(finding, nullptr);
  ASSERT_EQ(finding->evidence.size(), 1u);
  EXPECT_EQ(finding->evidence[0].name, kElementwise);
  EXPECT_GT(finding->gain_ns, 0);
  EXPECT_LE(finding->gain_ns, 0.4 * 50 * double(kMs));
  EXPECT_EQ(FindRule(found, "tensor-cores-idle"), nullptr);
  EXPECT_EQ(FindRule(Advise({{kElementwise, {{kIssue, 90}, {kDram, 70}}}}), "memory-bound-kernels"),
            nullptr)
      << "instructions are the limit";
}

TEST(CounterRules, ProductsWithoutTensorCores) {
  const auto found = Advise({{"ampere_sgemm_128x64_nn", {{kTensor, 0}, {kIssue, 80}, {kDram, 20}}},
                             {kElementwise, {{kTensor, 0}, {kIssue, 20}, {kDram, 50}}}});
  const Finding* const finding = FindRule(found, "tensor-cores-idle");
  ASSERT_NE(finding, nullptr);
  ASSERT_EQ(finding->evidence.size(), 1u);
  EXPECT_EQ(finding->evidence[0].name, "ampere_sgemm_128x64_nn");
}

TEST(CounterRules, NothingMeasuredNothingSaid) {
  const auto found = Advise({{"ampere_sgemm_128x64_nn", {}}});
  for (const char* rule : {"memory-bound-kernels", "tensor-cores-idle", "tail-waves"}) {
    EXPECT_EQ(FindRule(found, rule), nullptr) << rule;
  }
}

TEST(CounterRules, PowerAndHeat) {
  for (const auto& [metric, value, expected] :
       {std::tuple{"held back by power", 40.0, true}, std::tuple{"held back by heat", 20.0, true},
        std::tuple{"held back by heat", 2.0, false}, std::tuple{"power", 600.0, false}}) {
    testing::StoreBuilder build;
    const ThreadId thread = build.Thread(build.Process(100, "train.py"));
    for (int64_t step = 0; step < 20; ++step) {
      build.Range(thread, "step", step * kMs, (step + 1) * kMs);
    }
    Store& store = build.store();
    store.gpu_metrics.Append({.device = 0, .metric = build.Text(metric)});
    for (int64_t at = 0; at < 20; ++at) {
      store.gpu_metric_samples.Append(
          {.start_ns = at * kMs, .device = 0, .metric = build.Text(metric), .value = value});
    }
    const Store built = build.Build();
    const auto found = BuildOverview(built).findings;
    EXPECT_EQ(FindRule(found, "clock-held-back") != nullptr, expected) << metric << value;
  }
}

}  // namespace
}  // namespace batchlight
