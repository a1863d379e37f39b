#include "analysis/counters/measured_kernels.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr std::string_view kTime = "gpu__time_duration.sum";
constexpr std::string_view kRead = "dram__bytes_read.sum";

// Steps of 1000 ns each; the kernels of a step run one after the other.
class Steps {
 public:
  Steps() : process_(build_.Process(100, "train.py")), thread_(build_.Thread(process_)) {}

  void Run(const std::vector<std::string_view>& kernels) {
    int64_t at = 1000 * ++step_ + 10;
    for (const std::string_view kernel : kernels) {
      build_.Kernel(thread_, kernel, at, at + 1, at + 9);
      at += 10;
    }
  }
  // Of the last step. `values`: of each launch, in order.
  void Measured(std::string_view metric, const std::vector<double>& values, double time_ns,
                uint32_t kernels = 0, std::string_view set = "limits") {
    ++range_;
    build_.store().counter_ranges.Append(
        {.start_ns = 1000 * step_,
         .end_ns = 1000 * (step_ + 1),
         .process = process_,
         .range = range_,
         .kernels = kernels != 0 ? kernels : uint32_t(values.size()),
         .iteration = 1,
         .counter_set = build_.Text(set)});
    for (size_t i = 0; i < values.size(); ++i) {
      Value(kTime, i + 1, time_ns);
      Value(metric, i + 1, values[i]);
    }
  }
  Store Build() {
    Store store = build_.Build();
    for (uint32_t& context : store.kernels.context) context = 0;
    return store;
  }

 private:
  void Value(std::string_view metric, size_t launch, double value) {
    build_.store().counter_values.Append({.process = process_,
                                          .range = range_,
                                          .launch = uint32_t(launch),
                                          .metric = build_.Text(metric),
                                          .value = value});
  }

  testing::StoreBuilder build_;
  ProcessId process_;
  ThreadId thread_;
  int64_t step_ = 0;
  uint32_t range_ = 0;
};

double ValueOf(const Store& store, const MeasuredKernel& kernel, std::string_view metric) {
  for (const auto& [known, value] : kernel.values) {
    if (store.Text(known) == metric) return value;
  }
  return -1;
}

TEST(MeasuredKernels, TheHowManyThLaunchOfAKernelIsTheSameInEachPass) {
  Steps steps;
  steps.Run({"gemm", "copy", "gemm"});
  steps.Measured(kRead, {1, 2, 3}, 100);
  steps.Run({"warm-up"});
  steps.Run({"copy", "gemm", "gemm"});  // the same launches in another order
  steps.Measured("sm__inst_executed.sum", {20, 10, 30}, 110);
  const Store store = steps.Build();
  const MeasuredKernels found = FindMeasuredKernels(store);
  EXPECT_EQ(found.steps, 2u);
  EXPECT_EQ(found.steps_unmatched, 0u);
  EXPECT_EQ(found.incomplete, 0u);
  ASSERT_EQ(found.kernels.size(), 3u);
  const std::string_view names[] = {"gemm", "copy", "gemm"};
  for (size_t i = 0; i < 3; ++i) {
    const MeasuredKernel& kernel = found.kernels[i];
    EXPECT_EQ(store.Text(store.kernels.demangled_name[kernel.row]), names[i]);
    EXPECT_EQ(ValueOf(store, kernel, kRead), double(i + 1));
    EXPECT_EQ(ValueOf(store, kernel, "sm__inst_executed.sum"), 10.0 * double(i + 1));
    EXPECT_EQ(kernel.passes, 2u);
    EXPECT_DOUBLE_EQ(kernel.time_ns, 105);
    EXPECT_DOUBLE_EQ(kernel.most_ns - kernel.least_ns, 10);
  }
}

TEST(MeasuredKernels, AReplayedLaunchIsOneHoweverOftenItRan) {
  Steps steps;
  for (int launch = 0; launch < 2; ++launch) {
    steps.Run({"gemm", "gemm", "gemm"});
    steps.Measured(kRead, {5.0 + launch}, 100, 1, "replayed, full");
  }
  steps.Run({"gemm", "copy"});
  steps.Measured(kRead, {7}, 100, 1, "replayed, full");
  const Store store = steps.Build();
  const MeasuredKernels found = FindMeasuredKernels(store);
  EXPECT_EQ(found.steps, 1u) << "launches of one iteration";
  EXPECT_EQ(found.replays_unmatched, 1u) << "nobody knows which of the two it was";
  EXPECT_EQ(found.incomplete, 0u);
  ASSERT_EQ(found.kernels.size(), 2u);
  EXPECT_EQ(ValueOf(store, found.kernels[0], kRead), 5);
  EXPECT_EQ(ValueOf(store, found.kernels[1], kRead), 6);
}

TEST(MeasuredKernels, WhatCuptiLaunchesItselfIsNotCounted) {
  Steps steps;
  steps.Run({"gemm", "WaitNs", "copy", "WaitNs(unsigned long)"});
  steps.Measured(kRead, {1, 2}, 100);
  const Store store = steps.Build();
  const MeasuredKernels found = FindMeasuredKernels(store);
  EXPECT_EQ(found.steps_unmatched, 0u);
  ASSERT_EQ(found.kernels.size(), 2u);
  EXPECT_EQ(ValueOf(store, found.kernels[1], kRead), 2);
}

TEST(MeasuredKernels, ALaunchThatSomePassesDidNotSeeIsCounted) {
  Steps steps;
  steps.Run({"gemm", "rare"});
  steps.Measured(kRead, {1, 2}, 100);
  steps.Run({"gemm"});
  steps.Measured("sm__inst_executed.sum", {10}, 100);
  const MeasuredKernels found = FindMeasuredKernels(steps.Build());
  EXPECT_EQ(found.kernels.size(), 2u);
  EXPECT_EQ(found.incomplete, 1u);
}

TEST(MeasuredKernels, WhereOtherWorkRanThanWasCountedNobodyGuesses) {
  Steps steps;
  steps.Run({"gemm", "copy"});
  steps.Measured(kRead, {1, 2, 3}, 100);
  const MeasuredKernels found = FindMeasuredKernels(steps.Build());
  EXPECT_EQ(found.steps, 1u);
  EXPECT_EQ(found.steps_unmatched, 1u);
  EXPECT_TRUE(found.kernels.empty());
}

TEST(MeasuredKernels, AGraphIsOneAndItsKernelsAreNot) {
  Steps steps;
  steps.Run({"gemm", "in a graph"});
  steps.Measured(kRead, {1, 5}, 100);
  Store store = steps.Build();
  store.kernels.graph_node[1] = 7;
  store.graph_launches.Append({.start_ns = 1050, .end_ns = 1090, .graph = 3});
  store.graph_launches.process[0] = store.kernels.process[0];
  const MeasuredKernels found = FindMeasuredKernels(store);
  ASSERT_EQ(found.kernels.size(), 2u);
  EXPECT_FALSE(found.kernels[0].is_graph);
  EXPECT_TRUE(found.kernels[1].is_graph);
  EXPECT_EQ(ValueOf(store, found.kernels[1], kRead), 5);
}

// As in windows, where graphs are recorded node by node.
TEST(MeasuredKernels, TheNodesOfALaunchOfAGraphAreOne) {
  Steps steps;
  for (int pass = 0; pass < 2; ++pass) {
    steps.Run({"gemm", "first of a graph", "second", "first of a graph", "second", "copy"});
    steps.Measured(pass == 0 ? kRead : "sm__inst_executed.sum", {1, 5, 6, 2}, 100);
  }
  Store store = steps.Build();
  KernelsTable& kernels = store.kernels;
  for (size_t row = 0; row < kernels.size(); ++row) {
    const std::string_view name = store.Text(kernels.demangled_name[row]);
    if (name == "first of a graph") kernels.graph_node[row] = (uint64_t{7} << 32) + 2;
    if (name == "second") {
      kernels.graph_node[row] = (uint64_t{7} << 32) + 3;
      kernels.correlation[row] = kernels.correlation[row - 1];
      kernels.api_call[row] = kernels.api_call[row - 1];
    }
  }
  const MeasuredKernels found = FindMeasuredKernels(store);
  EXPECT_EQ(found.steps_unmatched, 0u);
  EXPECT_EQ(found.incomplete, 0u);
  ASSERT_EQ(found.kernels.size(), 4u);
  for (const size_t place : {1, 2}) {
    const MeasuredKernel& graph = found.kernels[place];
    EXPECT_TRUE(graph.is_graph && graph.by_node);
    EXPECT_EQ(store.Text(kernels.demangled_name[graph.row]), "first of a graph");
    EXPECT_EQ(ValueOf(store, graph, kRead), double(4 + place));
    EXPECT_EQ(ValueOf(store, graph, "sm__inst_executed.sum"), double(4 + place));
  }
  EXPECT_EQ(ValueOf(store, found.kernels[3], kRead), 2);
}

TEST(MeasuredKernels, AGraphThatOnlySetsMemoryIsOneToo) {
  Steps steps;
  steps.Run({"gemm"});
  steps.Measured(kRead, {1, 5}, 100);
  Store store = steps.Build();
  store.memsets.Append({.start_ns = 1050, .end_ns = 1060, .correlation = 77, .graph_node = 4});
  store.memsets.process[0] = store.kernels.process[0];
  const MeasuredKernels found = FindMeasuredKernels(store);
  ASSERT_EQ(found.kernels.size(), 2u);
  EXPECT_TRUE(found.kernels[1].is_graph);
  EXPECT_GE(found.kernels[1].row, store.kernels.size());
  EXPECT_EQ(ValueOf(store, found.kernels[1], kRead), 5);
}

// Two kernels of one name are told apart by stream and by grid.
TEST(MeasuredKernels, StreamAndGridTellKernelsApart) {
  for (const bool by_stream : {true, false}) {
    Steps steps;
    for (int pass = 0; pass < 2; ++pass) {
      steps.Run({"gemm", "gemm"});
      steps.Measured(pass == 0 ? kRead : "sm__inst_executed.sum",
                     pass == 0 ? std::vector<double>{1, 2} : std::vector<double>{20, 10}, 100);
    }
    Store store = steps.Build();
    store.kernel_launches.Append({.grid_x = 1});
    store.kernel_launches.Append({.grid_x = 2});
    for (size_t row = 0; row < 4; ++row) {  // the other way round in the second pass
      const uint32_t which = row == 0 || row == 3 ? 0 : 1;
      if (by_stream) {
        store.kernels.stream[row] = 7 + which;
      } else {
        store.kernels.launch[row] = KernelLaunchId(which);
      }
    }
    const MeasuredKernels found = FindMeasuredKernels(store);
    ASSERT_EQ(found.kernels.size(), 2u);
    EXPECT_EQ(ValueOf(store, found.kernels[0], "sm__inst_executed.sum"), 10);
    EXPECT_EQ(ValueOf(store, found.kernels[1], "sm__inst_executed.sum"), 20);
  }
}

TEST(MeasuredKernels, ValuesBeyondTheLaunchesAreLeftOut) {
  Steps steps;
  steps.Run({"gemm"});
  steps.Measured(kRead, {1, 2}, 100, 1);
  const Store store = steps.Build();
  const MeasuredKernels found = FindMeasuredKernels(store);
  ASSERT_EQ(found.kernels.size(), 1u);
  EXPECT_EQ(ValueOf(store, found.kernels[0], kRead), 1);
}

}  // namespace
}  // namespace batchlight
