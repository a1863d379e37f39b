// Plans of cuDNN for shapes that it has not seen, and operators that take long for another reason.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

constexpr int64_t kUs = 1000;

struct Planning {
  std::string_view operator_name = "aten::cudnn_convolution";
  std::string_view benchmark = "True";
  bool times = true;        // algorithms: memory for each, and a wait
  bool queue_full = false;  // the time is a launch that waits
  int every = 1;            // steps
  int others = 0;           // short calls of the same operator in each step
  std::string_view padded;  // beyond the longest sample, of batches
  int64_t steps = 20;
};

// Steps of 10 ms, one operator of 100 us or 6 ms in forward; the GPU works 1 ms.
std::vector<Finding> FindingsOf(const Planning& of) {
  StoreBuilder build;
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId thread = build.Thread(process);
  build.Property("torch.cudnn_benchmark", of.benchmark, process);
  if (!of.padded.empty()) build.Property("data.padding_beyond_longest", of.padded, process);
  for (int64_t i = 0; i < of.steps; ++i) {
    const int64_t at = i * 10 * kMs;
    const bool plans = i != 3 && i % of.every == 0;
    const int64_t took = plans ? 6 * kMs : 100 * kUs;
    build.Range(thread, "step", at, at + 10 * kMs - 1000);
    build.Module(thread, "conv", "Conv1d", at, at + 7 * kMs);
    build.Operator(thread, of.operator_name, at + 10 * kUs, at + 10 * kUs + took, i);
    for (int64_t other = 0; other < of.others; ++other) {
      const int64_t from = at + 6200 * kUs + other * 15 * kUs;
      build.Operator(thread, of.operator_name, from, from + 12 * kUs);
    }
    if (plans && of.times) {
      for (int64_t call = 0; call < 10; ++call) {
        const int64_t from = at + 100 * kUs + call * 500 * kUs;
        build.ApiCall(thread, "cudaMalloc_v3020", from, from + 50 * kUs);
        build.ApiCall(thread, "cudaEventSynchronize_v3020", from + 100 * kUs, from + 350 * kUs);
        build.ApiCall(thread, "cudaFree_v3020", from + 400 * kUs, from + 450 * kUs);
      }
    }
    if (plans && of.queue_full) {
      build.ApiCall(thread, "cudaLaunchKernel_v7000", at + 100 * kUs, at + 5900 * kUs);
    }
    build.Operator(thread, "aten::relu", at + 8 * kMs, at + 8 * kMs + 20 * kUs);
    build.Kernel(thread, "relu_kernel", at + 8 * kMs + 5 * kUs, at + 8 * kMs + 10 * kUs,
                 at + 9 * kMs);
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(CudnnRules, ConvolutionsThatAreTimedAnewForEachShapeComeFirst) {
  const auto findings = FindingsOf({});
  ASSERT_FALSE(findings.empty());
  const Finding& first = findings.front();
  EXPECT_EQ(first.rule, "cudnn-plans");
  EXPECT_NE(first.action.find("benchmark = False"), std::string::npos);
  EXPECT_NEAR(first.gain_ns, 0.95 * 5.9 * kMs * 19 / 20, 0.3 * kMs);
  // Their waits and their memory are no findings of their own.
  for (const std::string_view rule : {"host-sync", "allocator-retries", "launch-bound"}) {
    EXPECT_EQ(FindRule(findings, rule), nullptr) << rule;
  }
}

TEST(CudnnRules, WithoutTimingInputsAreToBePadded) {
  const auto findings = FindingsOf({.benchmark = "False", .times = false});
  const Finding* found = FindRule(findings, "cudnn-plans");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->action.find("Pad inputs"), 0u) << found->action;
}

TEST(CudnnRules, AttentionThatIsPlannedAnew) {
  const auto findings = FindingsOf(
      {.operator_name = "aten::_cudnn_attention_forward", .benchmark = "False", .times = false});
  const Finding* found = FindRule(findings, "cudnn-attention-plans");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->action.find("enable_cudnn_sdp(False)"), std::string::npos);
  EXPECT_EQ(FindRule(findings, "cudnn-plans"), nullptr);
}

// Batches that are padded less have ever new lengths.
TEST(CudnnRules, PaddingLessIsToBeInFewLengths) {
  const auto action = [](const Planning& of) {
    const auto findings = FindingsOf(of);
    const Finding* found = FindRule(findings, "padding-to-one-length");
    return found == nullptr ? std::string("none") : found->action;
  };
  const std::string attention =
      action({.operator_name = "aten::_cudnn_attention_forward", .every = 50, .padded = "0.75"});
  EXPECT_NE(attention.find("pad_to_multiple_of=64"), std::string::npos) << attention;
  EXPECT_NE(action({.every = 50, .padded = "0.75"}).find("benchmark = False"), std::string::npos);
  EXPECT_EQ(action({.operator_name = "aten::bmm", .padded = "0.75"}).find("64"), std::string::npos);
}

TEST(CudnnRules, OtherSlowCallsAreNoPlans) {
  EXPECT_EQ(FindRule(FindingsOf({.times = false, .queue_full = true}), "cudnn-plans"), nullptr)
      << "the GPU's queue is full";
  EXPECT_NE(FindRule(FindingsOf({.others = 20}), "cudnn-plans"), nullptr);
  EXPECT_EQ(FindRule(FindingsOf({.others = 100}), "cudnn-plans"), nullptr)
      << "one of a hundred: its thread lost its processor";
  EXPECT_EQ(FindRule(FindingsOf({.every = 10}), "cudnn-plans"), nullptr) << "a few shapes";
  EXPECT_EQ(FindRule(FindingsOf({.steps = 4}), "cudnn-plans"), nullptr) << "the first steps";
  EXPECT_EQ(FindRule(FindingsOf({.operator_name = "aten::bmm"}), "cudnn-plans"), nullptr);
}

}  // namespace
}  // namespace batchlight
