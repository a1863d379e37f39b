// Whose the products in single precision are.
#include <gtest/gtest.h>

#include <string>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

// 20 steps of 10 ms that are two products in FP32, in one model or two.
std::vector<Finding> FindingsOfProducts(std::string_view first, std::string_view second) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  build.store().gpus.Append({.compute_major = 9});
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t t = i * 10 * kMs;
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.Module(thread, first, first, t + 1'000, t + 15'000);
    build.Kernel(thread, "ampere_sgemm_128x64_tn", t + 10'000, t + 30'000, t + 5 * kMs);
    build.Module(thread, second, second, t + 16'000, t + 25'000);
    build.Kernel(thread, "ampere_sgemm_128x64_tn", t + 20'000, t + 5 * kMs, t + 10 * kMs - 10'000);
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

}  // namespace
}  // namespace batchlight
