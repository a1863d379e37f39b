#include "analysis/owners/critical_time.h"

#include <gtest/gtest.h>

#include "analysis/overview/run_overview.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

constexpr int kSteps = 20;
constexpr int64_t kStepNs = 100'000;

// Steps of 100 µs: 30 µs of forward, 50 µs in backward() while autograd's thread works for 40, and
// a thread that pins memory all the time.
Store RunWithThreads() {
  StoreBuilder build;
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId main = build.Thread(process);
  const ThreadId engine = build.Thread(process);
  const ThreadId pin = build.Thread(process);
  for (int step = 0; step < kSteps; ++step) {
    const int64_t t = step * kStepNs;
    build.Range(main, "step " + std::to_string(step), t, t + kStepNs);
    build.Module(main, "Net", "Net", t + 1'000, t + 31'000);
    build.Operator(main, "aten::linear", t + 5'000, t + 25'000, step);
    build.Phase(main, Phase::kBackward, "backward", t + 40'000, t + 90'000);
    build.Operator(engine, "AddmmBackward0", t + 45'000, t + 85'000, step, 1,
                   OperatorScope::kBackward);
    build.Operator(engine, "aten::mm", t + 50'000, t + 80'000);
    build.Operator(pin, "aten::pin_memory", t + 1'000, t + 99'000);
    build.Range(pin, "pin", t + 500, t + 99'500);
  }
  return build.Build();
}

const OperatorRow& Operator(const RunOverview& overview, std::string_view name) {
  for (const OperatorRow& row : overview.operators.by_name) {
    if (overview.store->Text(row.name) == name) return row;
  }
  ADD_FAILURE() << "no operator " << name;
  static const OperatorRow none;
  return none;
}

TEST(CriticalTimeTest, OneThreadAtATimeIsThatOfTheStep) {
  const Store store = RunWithThreads();
  const RunOverview overview = BuildOverview(store);
  ASSERT_EQ(overview.steps.Main()->steps.size(), size_t{kSteps});
  double share = 0;
  for (const OperatorRow& row : overview.operators.by_name) share += row.share_of_step;
  EXPECT_NEAR(share, 0.6, 1e-9);
  const OperatorRow& pin = Operator(overview, "aten::pin_memory");
  EXPECT_EQ(pin.share_of_step, 0);
  EXPECT_EQ(pin.beside_per_step_ns, 98'000);
  EXPECT_EQ(pin.self_ns, kSteps * 98'000) << "the whole run, whatever the thread";
  EXPECT_EQ(Operator(overview, "aten::mm").self_per_step_ns, 30'000);
  EXPECT_EQ(Operator(overview, "AddmmBackward0").in_backward_per_step_ns, 10'000);
}

TEST(CriticalTimeTest, TheTreeAddsUpToTheStepAtMost) {
  const Store store = RunWithThreads();
  const AttributionTree tree = BuildOverview(store).tree;
  double cpu_ns = 0;
  double beside_ns = 0;
  for (const TreeNode& node : tree.nodes) {
    if (node.kind == TreeKind::kPhase && node.name == "backward") {
      EXPECT_EQ(node.self_ns, 10'000) << "what autograd's thread does is not waited for twice";
    }
    if (node.parent >= 0) continue;
    cpu_ns += node.cpu_ns();
    beside_ns += node.beside_ns;
  }
  EXPECT_EQ(cpu_ns, 30'000 + 50'000);
  EXPECT_EQ(beside_ns, 98'000);
}

TEST(CriticalTimeTest, ModulesAndRangesToo) {
  const Store store = RunWithThreads();
  const RunOverview overview = BuildOverview(store);
  ASSERT_EQ(overview.modules.rows.size(), 1u);
  EXPECT_EQ(overview.modules.rows[0].backward_self_per_step_ns, 40'000);
  EXPECT_NEAR(overview.modules.rows[0].own_share, 0.7, 1e-9);
  for (const NvtxRow& row : overview.nvtx.rows) {
    if (store.Text(row.message) != "pin") continue;
    EXPECT_EQ(row.share_of_step, 0);
    EXPECT_EQ(row.beside_per_step_ns, 99'000);
  }
}

TEST(CriticalTimeTest, WithoutStepsEveryThreadCounts) {
  const CriticalTime critical;
  size_t at = 0;
  const CriticalPart part = critical.Of(ThreadId::At(3), 10, 30, at);
  EXPECT_EQ(part.waited_for_ns, 20);
  EXPECT_EQ(part.beside_ns, 0);
}

}  // namespace
}  // namespace batchlight
