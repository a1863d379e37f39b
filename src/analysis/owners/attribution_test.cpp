#include "analysis/owners/attribution.h"

#include <gtest/gtest.h>

#include "analysis/owners/backward_links.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

Attribution Attribute(const Store& store) { return AttributeWork(store, BackwardLinks(store)); }

std::string_view OperatorName(const Store& store, OperatorCallId op) {
  return op.IsNone() ? "" : store.Text(store.operator_calls.name[op.row()]);
}
std::string_view ModulePath(const Store& store, ModuleCallId module) {
  return module.IsNone() ? "" : store.Text(store.module_calls.path[module.row()]);
}

TEST(Attribution, KernelBelongsToWhatWasOpenAtItsLaunch) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  build.Range(main, "forward", 0, 1000);
  build.Module(main, "encoder.linear", "Linear", 10, 900);
  build.Operator(main, "aten::linear", 20, 800, 5);
  build.Operator(main, "aten::addmm", 30, 700);
  build.Kernel(main, "gemm", 40, 5000, 6000);  // runs long after all of them ended
  const Store store = build.Build();
  const Attribution found = Attribute(store);
  ASSERT_EQ(found.kernels.size(), 1u);
  const WorkOwner& owner = found.kernels[0];
  EXPECT_EQ(OperatorName(store, owner.op), "aten::addmm");
  EXPECT_EQ(ModulePath(store, owner.module), "encoder.linear");
  EXPECT_EQ(store.Text(store.nvtx_ranges.message[owner.range.row()]), "forward");
  EXPECT_FALSE(owner.backward);
  EXPECT_EQ(found.total_ns, 1000);
  EXPECT_EQ(found.unattributed_ns, 0);
}

TEST(Attribution, BackwardKernelGoesToTheForwardModule) {
  StoreBuilder build;
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId main = build.Thread(process);
  const ThreadId engine = build.Thread(process);
  build.Module(main, "encoder.linear", "Linear", 10, 100);
  build.Operator(main, "aten::addmm", 20, 90, 5);
  build.Operator(engine, "AddmmBackward0", 200, 300, 5, 1, OperatorScope::kBackward);
  build.Operator(engine, "aten::mm", 210, 290);
  build.Kernel(engine, "gemm", 220, 400, 500);
  const Store store = build.Build();
  const Attribution found = Attribute(store);
  const WorkOwner& owner = found.kernels[0];
  EXPECT_TRUE(owner.backward);
  EXPECT_EQ(OperatorName(store, owner.op), "aten::mm");
  EXPECT_EQ(OperatorName(store, owner.forward_op), "aten::addmm");
  EXPECT_EQ(ModulePath(store, owner.module), "encoder.linear");
}

// The sum of a bias's gradient, and of gradients that meet: in the engine's call, behind the
// function.
TEST(Attribution, WhatTheEngineDoesBehindAFunctionIsBackwardToo) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  build.Module(main, "encoder.linear", "Linear", 10, 100);
  build.Operator(main, "aten::addmm", 20, 90, 5);
  build.Operator(main, "autograd::engine::evaluate_function: AddmmBackward0", 190, 400);
  build.Operator(main, "AddmmBackward0", 200, 300, 5, 1, OperatorScope::kBackward);
  build.Operator(main, "aten::sum", 310, 350);
  build.Kernel(main, "reduce", 320, 400, 500);
  const Store store = build.Build();
  const WorkOwner owner = Attribute(store).kernels[0];
  EXPECT_TRUE(owner.backward);
  EXPECT_EQ(OperatorName(store, owner.op), "aten::sum");
  EXPECT_EQ(ModulePath(store, owner.module), "encoder.linear");
}

TEST(Attribution, GraphKernelGoesToItsCapture) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  build.Range(main, "captured", 0, 100);
  build.Range(main, "replay", 200, 300);
  build.Kernel(main, "gemm", 210, 400, 500);
  build.store().graph_nodes.Append({.start_ns = 50, .thread = main, .graph_node = 11});
  build.store().graph_nodes.Append(
      {.start_ns = 120, .thread = main, .graph_node = 22, .original_graph_node = 11});
  Store store = build.Build();
  store.kernels.graph_node[0] = 22;
  EXPECT_EQ(store.Text(store.nvtx_ranges.message[Attribute(store).kernels[0].range.row()]),
            "captured");
  store.kernels.graph_node[0] = 99;  // not seen: the replaying range
  EXPECT_EQ(store.Text(store.nvtx_ranges.message[Attribute(store).kernels[0].range.row()]),
            "replay");
}

TEST(Attribution, WorkOfNobodyIsCounted) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  build.Kernel(main, "gemm", 10, 20, 120);
  const Store store = build.Build();
  EXPECT_EQ(Attribute(store).unattributed_ns, 100);
}

}  // namespace
}  // namespace batchlight
