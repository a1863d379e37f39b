// Modules, operators, ranges and the links between forward and backward.
#include <gtest/gtest.h>

#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/owners/critical_time.h"
#include "analysis/owners/module_summary.h"
#include "analysis/owners/nvtx_summary.h"
#include "analysis/owners/operator_summary.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

constexpr OperatorScope kBackwardScope = OperatorScope::kBackward;

// Two steps of a model with two layers; the backward runs on a thread of its own.
Store TwoLayers() {
  StoreBuilder build;
  const ProcessId process = build.Process(1, "train.py");
  const ThreadId main = build.Thread(process);
  const ThreadId autograd = build.Thread(process);
  for (int i = 0; i < 2; ++i) {
    const int64_t at = i * 1000;
    const int64_t sequence = i * 10;
    build.Range(main, "step", at, at + 900);
    build.Module(main, "Net", "Net", at + 10, at + 110);
    build.Module(main, "fc1", "Linear", at + 20, at + 50);
    build.Module(main, "fc2", "Linear", at + 60, at + 90);
    build.Operator(main, "aten::linear", at + 25, at + 45, sequence, 0, OperatorScope::kFunction,
                   "[[8, 4]]");
    build.Operator(main, "aten::addmm", at + 30, at + 40, sequence, 0, OperatorScope::kFunction,
                   "[[8, 4]]");
    build.Operator(main, "aten::linear", at + 65, at + 85, sequence + 1, 0,
                   OperatorScope::kFunction, "[[8, 2]]");
    // A number of another process or of nobody is not linked.
    build.Operator(autograd, "StrayBackward0", at + 150, at + 160, 7777, 1, kBackwardScope);
    build.Operator(autograd, "autograd::engine::evaluate_function: B2", at + 200, at + 260);
    build.Operator(autograd, "B2", at + 205, at + 250, sequence + 1, 1, kBackwardScope);
    build.Operator(autograd, "aten::mm", at + 210, at + 240);
    build.Operator(autograd, "B1", at + 300, at + 400, sequence, 1, kBackwardScope);
  }
  return build.Build();
}

const ModuleRow& FindModule(const ModuleSummary& summary, const std::string& path) {
  for (const ModuleRow& row : summary.rows) {
    if (row.path == path) return row;
  }
  static const ModuleRow kNone;
  ADD_FAILURE() << "no module " << path;
  return kNone;
}

const OperatorRow& FindOperator(const Store& store, const std::vector<OperatorRow>& rows,
                                const std::string& name, const std::string& shapes = "") {
  for (const OperatorRow& row : rows) {
    if (store.Text(row.name) == name && store.Text(row.shapes) == shapes) return row;
  }
  static const OperatorRow kNone;
  ADD_FAILURE() << "no operator " << name << " " << shapes;
  return kNone;
}

TEST(BackwardLinks, FollowTheSequenceNumber) {
  const Store store = TwoLayers();
  const BackwardLinks links(store);
  ASSERT_EQ(links.links().size(), 4u);
  const BackwardLink& first = links.links()[0];
  EXPECT_EQ(store.Text(store.operator_calls.name[first.backward.row()]),
            "autograd::engine::evaluate_function: B2");
  EXPECT_EQ(first.own_ns, 60);
  const BackwardLink& second = links.links()[1];
  EXPECT_EQ(store.Text(store.operator_calls.name[second.forward.row()]), "aten::addmm")
      << "the operator that started last made the node";
  for (uint32_t row = 0; row < store.operator_calls.size(); ++row) {
    if (store.Text(store.operator_calls.name[row]) != "aten::mm") continue;
    const OperatorCallId forward = links.ForwardOf(OperatorCallId::At(row));
    ASSERT_FALSE(forward.IsNone());
    EXPECT_EQ(store.Text(store.operator_calls.name[forward.row()]), "aten::linear");
    EXPECT_TRUE(links.IsInBackward(OperatorCallId::At(row)));
  }
}

TEST(BackwardLinks, ANestedBackwardIsCountedOnce) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "train.py"));
  build.Operator(thread, "CheckpointFunction", 0, 10, 1);
  build.Operator(thread, "CheckpointFunctionBackward", 20, 100, 1, 1, kBackwardScope);
  build.Operator(thread, "aten::linear", 30, 40, 2);
  build.Operator(thread, "AddmmBackward0", 50, 90, 2, 1, kBackwardScope);
  const Store store = build.Build();
  const BackwardLinks links(store);
  ASSERT_EQ(links.links().size(), 2u);
  EXPECT_EQ(links.links()[0].own_ns, 40);
  EXPECT_EQ(links.links()[1].own_ns, 40);
}

TEST(ModuleSummary, IsATreeWithForwardAndBackward) {
  const Store store = TwoLayers();
  const StepSet steps = FindSteps(store);
  const ModuleSummary summary =
      SummarizeModules(store, steps, CriticalTime(), BackwardLinks(store), {});
  ASSERT_EQ(summary.rows.size(), 3u);
  EXPECT_TRUE(summary.has_backward);
  const ModuleRow& net = FindModule(summary, "Net");
  const ModuleRow& fc1 = FindModule(summary, "fc1");
  const ModuleRow& fc2 = FindModule(summary, "fc2");
  EXPECT_EQ(net.parent, -1);
  EXPECT_EQ(fc1.parent, 0);
  EXPECT_EQ(fc1.depth, 1);
  EXPECT_EQ(net.calls, 2u);
  EXPECT_EQ(net.total_ns, 200);
  EXPECT_EQ(net.self_ns, 80);
  EXPECT_EQ(fc1.backward_ns, 200);
  EXPECT_EQ(fc2.backward_ns, 120);
  EXPECT_EQ(net.backward_ns, 320);
  EXPECT_EQ(net.backward_self_ns, 0);
  EXPECT_DOUBLE_EQ(net.calls_per_step, 1);
  EXPECT_DOUBLE_EQ(fc1.total_per_step_ns, 30);
  EXPECT_DOUBLE_EQ(fc2.backward_per_step_ns, 60);
  EXPECT_DOUBLE_EQ(net.share_of_step, (100.0 + 160.0) / 950.0);  // steps of 900 and 1000
  EXPECT_EQ(summary.rows[ModulesBySelfTime(summary, false)[0]].path, "fc1");
}

TEST(ModuleSummary, TheOrderIsThatOfTheStepsThatCount) {
  ModuleSummary summary;
  summary.rows = {{.path = "slow at first", .self_ns = 900, .self_per_step_ns = 1},
                  {.path = "before the loop", .self_ns = 500},
                  {.path = "hot", .self_ns = 90, .self_per_step_ns = 4}};
  EXPECT_EQ(ModulesBySelfTime(summary, true), (std::vector<uint32_t>{2, 0}));
  EXPECT_EQ(ModulesBySelfTime(summary, false), (std::vector<uint32_t>{0, 1, 2}));
}

TEST(ModuleSummary, SamePathUnderTwoModelsIsTwoRows) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "gan.py"));
  build.Module(thread, "Generator", "Generator", 0, 100);
  build.Module(thread, "main", "Sequential", 10, 20);
  build.Module(thread, "Discriminator", "Discriminator", 200, 300);
  build.Module(thread, "main", "Sequential", 210, 240);
  const Store store = build.Build();
  const ModuleSummary summary =
      SummarizeModules(store, {}, CriticalTime(), BackwardLinks(store), {});
  ASSERT_EQ(summary.rows.size(), 4u);
  EXPECT_EQ(summary.rows[1].path, "main");
  EXPECT_EQ(summary.rows[1].total_ns, 10);
  EXPECT_EQ(summary.rows[3].parent, 2);
  EXPECT_EQ(summary.rows[3].total_ns, 30);
  EXPECT_EQ(summary.rows[3].total_per_step_ns, 0) << "no steps";
}

// Recordings may hold anything: time for each level would grow with their number.
TEST(ModuleSummary, WhatIsDeeperThanAnyModelCountsForTheLastLevel) {
  constexpr int kLevels = 3000;
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(1, "train.py"));
  for (int level = 0; level < kLevels; ++level) {
    build.Module(main, "m" + std::to_string(level), "C", level, 2 * kLevels - level);
  }
  const Store store = build.Build();
  const ModuleSummary summary =
      SummarizeModules(store, {}, CriticalTime(), BackwardLinks(store), {});
  ASSERT_EQ(summary.rows.size(), 1000u);
  const ModuleRow& last = summary.rows.back();
  EXPECT_EQ(last.path, "m999");
  EXPECT_EQ(last.depth, 999);
  EXPECT_EQ(last.calls, kLevels - 999);
  EXPECT_EQ(last.total_ns, 2 * (kLevels - 999)) << "once";
  EXPECT_EQ(last.self_ns, last.total_ns);
  EXPECT_EQ(summary.rows.front().self_ns, 2);
}

TEST(ModuleSummary, AModuleThatCallsItselfCountsItsTimeOnce) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "tree.py"));
  build.Module(thread, "Tree", "Tree", 0, 100);
  build.Module(thread, "Tree", "Tree", 10, 60);
  build.Module(thread, "Tree", "Tree", 20, 30);
  const Store store = build.Build();
  const ModuleSummary summary =
      SummarizeModules(store, {}, CriticalTime(), BackwardLinks(store), {});
  ASSERT_EQ(summary.rows.size(), 1u);
  EXPECT_EQ(summary.rows[0].calls, 3u);
  EXPECT_EQ(summary.rows[0].total_ns, 100);
  EXPECT_EQ(summary.rows[0].self_ns, 100);
}

TEST(OperatorSummary, SumsByNameAndByShape) {
  const Store store = TwoLayers();
  const StepSet steps = FindSteps(store);
  const OperatorSummary summary =
      SummarizeOperators(store, steps, CriticalTime(), BackwardLinks(store), {});
  const OperatorRow& linear = FindOperator(store, summary.by_name, "aten::linear");
  EXPECT_EQ(linear.calls, 4u);
  EXPECT_EQ(linear.total_ns, 80);
  EXPECT_EQ(linear.self_ns, 60);
  EXPECT_EQ(linear.min_ns, 20);
  EXPECT_EQ(linear.backward_ns, 120);
  EXPECT_DOUBLE_EQ(linear.calls_per_step, 2);
  EXPECT_DOUBLE_EQ(linear.average_ns(), 20);
  const OperatorRow& mm = FindOperator(store, summary.by_name, "aten::mm");
  EXPECT_EQ(mm.self_in_backward_ns, 60);
  const OperatorRow& small = FindOperator(store, summary.by_shape, "aten::linear", "[[8, 2]]");
  EXPECT_EQ(small.calls, 2u);
  EXPECT_EQ(small.self_ns, 40);
  int64_t self = 0;
  for (const OperatorRow& row : summary.by_name) self += row.self_ns;
  EXPECT_EQ(self, summary.self_ns);
  EXPECT_EQ(self, 2 * (20 + 20 + 10 + 60 + 100)) << "all time inside operators, once";
}

TEST(OperatorSummary, ACallInsideOneOfItsNameCountsOnceInTheTotal) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "a.py"));
  build.Operator(thread, "aten::to", 0, 100);
  build.Operator(thread, "aten::copy_", 10, 90);
  build.Operator(thread, "aten::to", 20, 30);
  build.Operator(thread, "aten::open", 200, kOpenEnd);
  const Store store = build.Build();
  const OperatorSummary summary =
      SummarizeOperators(store, {}, CriticalTime(), BackwardLinks(store), {});
  const OperatorRow& to = FindOperator(store, summary.by_name, "aten::to");
  EXPECT_EQ(to.calls, 2u);
  EXPECT_EQ(to.total_ns, 100);
  EXPECT_EQ(to.self_ns, 30);
  EXPECT_TRUE(summary.by_shape.empty());
  EXPECT_EQ(FindOperator(store, summary.by_name, "aten::open").total_ns, 0)
      << "an open call ends with the session";
}

TEST(NvtxSummary, ARangeInsideOneOfItsNameCountsOnce) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(1, "a.py"));
  build.Range(thread, "visit", 0, 100);
  build.Range(thread, "node", 10, 90);
  build.Range(thread, "visit", 20, 80);
  build.Range(thread, "visit", 30, 40);
  build.Kernel(thread, "gemm", 35, 200, 207);
  const Store store = build.Build();
  const NvtxSummary summary =
      SummarizeNvtx(store, {}, CriticalTime(), AttributeWork(store, BackwardLinks(store)));
  ASSERT_EQ(summary.rows.size(), 2u);
  EXPECT_EQ(summary.rows[0].total_ns, 100);
  EXPECT_EQ(summary.rows[0].calls, 3u);
  EXPECT_EQ(summary.rows[0].self_ns + summary.rows[1].self_ns, 100);
  EXPECT_EQ(summary.rows[0].gpu_ns, 7);
  EXPECT_EQ(summary.rows[1].gpu_ns, 7);
}

TEST(NvtxSummary, SumsByNameDomainAndStyle) {
  StoreBuilder build;
  const ProcessId process = build.Process(1, "a.py");
  const ThreadId thread = build.Thread(process);
  build.store().nvtx_domains.Append({.process = process, .name = build.Text("NCCL")});
  for (int i = 0; i < 3; ++i) {
    build.Range(thread, "step", i * 100, i * 100 + 80);
    build.Range(thread, "forward", i * 100 + 10, i * 100 + 30 + i);
  }
  build.store().nvtx_ranges.Append({.start_ns = 500,
                                    .end_ns = 510,
                                    .thread = thread,
                                    .end_thread = thread,
                                    .domain = NvtxDomainId::At(0),
                                    .message = build.Text("forward")});
  const Store store = build.Build();
  const NvtxSummary summary = SummarizeNvtx(store, FindSteps(store), CriticalTime(), {});
  ASSERT_EQ(summary.rows.size(), 3u);
  EXPECT_EQ(summary.ranges, 7u);
  const NvtxRow& step = summary.rows[0];
  EXPECT_EQ(step.total_ns, 240);
  EXPECT_EQ(step.self_ns, 240 - 63);
  const NvtxRow& forward = summary.rows[1];
  EXPECT_EQ(forward.calls, 3u);
  EXPECT_EQ(forward.duration.median, 21);
  EXPECT_EQ(forward.duration.max, 22);
  EXPECT_DOUBLE_EQ(forward.total_per_step_ns, 21);
  EXPECT_EQ(summary.rows[2].domain, "NCCL");
}

}  // namespace
}  // namespace batchlight
