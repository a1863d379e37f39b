// Whose the products in single precision are, and the operators that only pass over memory.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// 20 steps of 10 ms that are two products in FP32, in one model or two.
using Kernels = std::array<std::string, 2>;
std::vector<Finding> FindingsOfProducts(std::string_view first, std::string_view second,
                                        const Kernels& kernels = {"ampere_sgemm_128x64_tn",
                                                                  "ampere_sgemm_128x64_tn"}) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.store().gpus.Append({.compute_major = 9});
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t t = i * 10 * kMs;
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.Module(thread, first, first, t + 1'000, t + 15'000);
    build.Kernel(thread, kernels[0], t + 10'000, t + 30'000, t + 5 * kMs);
    build.Module(thread, second, second, t + 16'000, t + 25'000);
    build.Kernel(thread, kernels[1], t + 20'000, t + 5 * kMs, t + 10 * kMs - 10'000);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(ComputeRules, ProductsOfAModelThatLearnsNothingAreItsOwn) {
  const auto of_teacher = FindingsOfProducts("Teacher", "Teacher");
  const Finding* found = FindRule(of_teacher, "amp-off");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("forwards of `Teacher`"), std::string::npos) << found->seen;
  const auto of_both = FindingsOfProducts("Student", "Teacher");
  found = FindRule(of_both, "amp-off");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->seen.find("forwards of"), std::string::npos) << found->seen;
}

// 20 steps: an encoder of 15 short operators and a loss of 15 that take `ns` each.
Finding FindingOfPasses(int64_t ns) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  constexpr int64_t kShort = 100'000;
  for (int64_t i = 0, t = 0; i < 20; ++i) {
    const int64_t begin = t;
    int64_t gpu = t + 100'000;
    for (const int64_t long_ns : {kShort, ns}) {
      const char* name = long_ns == kShort ? "encoder" : "criterion";
      build.Module(thread, name, long_ns == kShort ? "Encoder" : "Triplet", t, t + 50'000);
      for (int64_t kernel = 0; kernel < 15; ++kernel, gpu += long_ns) {
        const int64_t call = t + 1'000 + kernel * 2'000;
        build.Kernel(thread, "vectorized_elementwise_kernel", call, gpu, gpu + long_ns);
      }
      t += 60'000;
    }
    t = gpu;
    build.Range(thread, "step", begin, t - 1000);
  }
  const Store store = build.Build();
  const auto findings = BuildOverview(store).findings;
  const Finding* found = FindRule(findings, "unfused-pointwise");
  return found == nullptr ? Finding{} : *found;
}

TEST(ComputeRules, PassesOverMemoryHaveTheirModule) {
  const Finding large = FindingOfPasses(2 * kMs);
  EXPECT_NE(large.seen.find("95 % of it begins in `criterion` (Triplet)"), std::string::npos)
      << large.seen;
  EXPECT_NE(large.action.find("Tensors are large there, 2.00 ms a kernel"), std::string::npos)
      << large.action;
  const Finding small = FindingOfPasses(kMs / 2);
  EXPECT_NE(small.seen.find("begins in `criterion`"), std::string::npos) << small.seen;
  EXPECT_EQ(small.action.find("Tensors are large"), std::string::npos) << small.action;
}

// All of cutlass is called `Kernel2`: the evidence is found by what tells its kernels apart.
TEST(ComputeRules, KernelsOfOneShortNameAreFoundByTheirWholeNames) {
  const std::string first = "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>";
  const std::string second = "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_tn_align1>";
  const auto findings = FindingsOfProducts("Student", "Teacher", {first, second});
  std::set<std::string> events;
  for (const Finding& finding : findings) {
    for (const Evidence& item : finding.evidence) {
      if (item.kind == "kernel") events.insert(item.event);
    }
  }
  EXPECT_EQ(events, (std::set<std::string>{first, second}));
}

}  // namespace
}  // namespace batchlight
