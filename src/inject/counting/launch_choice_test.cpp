#include "inject/counting/launch_choice.h"

#include <gtest/gtest.h>

namespace batchlight::inject::cupti {
namespace {

LaunchFate FateOf(uint32_t cbid, const char* name, const char* words,
                  const void* parameters = nullptr) {
  CallbackData call{};
  call.symbol_name = name;
  call.parameters = parameters;
  return JudgeLaunch(cbid, call, words);
}
constexpr uint32_t kLaunch = 307, kCooperative = 477, kGraph = 514, kLaunchEx = 652, kAlloc = 243;

TEST(LaunchChoice, AWordStandsInTheMangledName) {
  const char* const name = "_ZN2at6native18elementwise_kernelILi128EEEvi";
  EXPECT_EQ(FateOf(kLaunch, name, "elementwise"), LaunchFate::kReplayed);
  EXPECT_EQ(FateOf(kLaunch, name, "gemm||elementwise_kernel"), LaunchFate::kReplayed);
  EXPECT_EQ(FateOf(kLaunch, name, "gemm|softmax"), LaunchFate::kNotAsked);
  EXPECT_EQ(FateOf(kLaunch, name, "|"), LaunchFate::kNotAsked) << "no word at all";
  EXPECT_EQ(FateOf(kLaunch, nullptr, "gemm"), LaunchFate::kNotAsked);
  EXPECT_EQ(FateOf(kAlloc, name, "elementwise"), LaunchFate::kNotAsked);
}

TEST(LaunchChoice, WhatWaitsForOthersIsNotReplayed) {
  EXPECT_EQ(FateOf(kLaunch, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "Kernel"),
            LaunchFate::kCollective);
  EXPECT_EQ(FateOf(kLaunchEx, "two_shot_all_reduce_kernel", "kernel"), LaunchFate::kCollective);
  EXPECT_EQ(FateOf(kCooperative, "grid_sync", "grid"), LaunchFate::kCooperative);
  EXPECT_EQ(FateOf(kCooperative, "grid_sync", "gemm"), LaunchFate::kNotAsked);
  EXPECT_EQ(FateOf(kGraph, nullptr, "gemm"), LaunchFate::kGraph);
}

TEST(LaunchChoice, ALaunchSaysByAnAttributeThatItsBlocksWaitForEachOther) {
  LaunchAttribute attributes[2] = {};
  attributes[0].id = 1;
  attributes[1].id = kCooperativeAttribute;
  const LaunchConfig config{
      .sizes = {}, .stream = nullptr, .attributes = attributes, .attribute_count = 2};
  const LaunchConfig* const parameters[] = {&config};
  EXPECT_EQ(FateOf(kLaunchEx, "gemm", "gemm", parameters), LaunchFate::kReplayed);
  attributes[1].value.cooperative = 1;
  EXPECT_EQ(FateOf(kLaunchEx, "gemm", "gemm", parameters), LaunchFate::kCooperative);
  EXPECT_EQ(FateOf(kLaunch, "gemm", "gemm", parameters), LaunchFate::kReplayed)
      << "of another call the parameters are others";
}

}  // namespace
}  // namespace batchlight::inject::cupti
