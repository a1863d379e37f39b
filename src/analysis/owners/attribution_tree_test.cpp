#include "analysis/owners/attribution_tree.h"

#include <gtest/gtest.h>

#include "analysis/overview/run_overview.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/steps/bin_finder.h"
#include "analysis/testing/sample_run.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

std::string PathOf(const AttributionTree& tree, size_t row) {
  const TreeNode& node = tree.nodes[row];
  const std::string name = node.backward ? "~" + node.name : node.name;
  if (node.parent < 0) return name;
  return PathOf(tree, static_cast<size_t>(node.parent)) + " > " + name;
}

const TreeNode* Find(const AttributionTree& tree, const std::string& path) {
  for (size_t row = 0; row < tree.nodes.size(); ++row) {
    if (PathOf(tree, row) == path) return &tree.nodes[row];
  }
  ADD_FAILURE() << "no node " << path;
  for (size_t row = 0; row < tree.nodes.size(); ++row) {
    std::printf("  %s\n", PathOf(tree, row).c_str());
  }
  static const TreeNode none;
  return &none;
}

AttributionTree TreeOf(const Store& store) { return BuildOverview(store).tree; }

TEST(AttributionTreeTest, ForwardAndBackwardStandBelowTheOperator) {
  StoreBuilder build;
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId main = build.Thread(process);
  const ThreadId engine = build.Thread(process);
  build.Module(main, "Net", "Net", 0, 1000);
  build.Module(main, "encoder", "Linear", 100, 600);
  build.Operator(main, "aten::linear", 200, 500, 5);
  build.Operator(main, "aten::addmm", 250, 400);
  build.Kernel(main, "gemm", 300, 2000, 2070);
  build.Operator(engine, "AddmmBackward0", 1200, 1300, 5, 1, OperatorScope::kBackward);
  build.Operator(engine, "aten::mm", 1210, 1290);
  build.Kernel(engine, "gemm", 1220, 3000, 3500);
  const Store store = build.Build();
  const AttributionTree tree = TreeOf(store);

  const TreeNode& linear = *Find(tree, "Net > encoder > aten::linear");
  EXPECT_EQ(linear.self_ns, 300 - 150);
  EXPECT_EQ(linear.cpu_forward_ns, 300);
  EXPECT_EQ(linear.cpu_backward_ns, 100);
  EXPECT_EQ(linear.gpu_forward_ns, 70);
  EXPECT_EQ(linear.gpu_backward_ns, 500);
  const TreeNode& net = *Find(tree, "Net");
  EXPECT_EQ(net.self_ns, 500);
  EXPECT_EQ(net.cpu_forward_ns, 1000);
  EXPECT_EQ(net.gpu_ns(), 570);
  EXPECT_EQ(Find(tree, "Net > encoder > aten::linear > aten::addmm > gemm")->self_ns, 70);
  const std::string below = "Net > encoder > aten::linear > ~AddmmBackward0 > ~aten::mm";
  EXPECT_EQ(Find(tree, below)->gpu_self_ns, 500);
  EXPECT_EQ(Find(tree, below + " > ~gemm")->self_ns, 500);
  EXPECT_FALSE(tree.per_step);
  EXPECT_EQ(linear.longest, (TimeSpan{200, 500}));
  EXPECT_EQ(Find(tree, below + " > ~gemm")->longest, (TimeSpan{3000, 3500}));
}

// What each step has takes longest in warm-up, which counts for nothing.
TEST(AttributionTreeTest, TheLongestCallIsOneOfAStepThatCounts) {
  const Store store = testing::MakeSampleRun({.steps = 10});
  const RunOverview overview = BuildOverview(store);
  const ProcessSteps& process = overview.steps.processes.at(0);
  ASSERT_FALSE(process.steady.empty());
  const int64_t steady_ns = process.steps[process.steady.front()].start_ns;
  ASSERT_GT(steady_ns, process.steps.front().start_ns);
  size_t counted = 0;
  for (const TreeNode& node : overview.tree.nodes) {
    if (node.calls == 0) continue;
    ++counted;
    EXPECT_GE(node.longest.start_ns, steady_ns) << node.name;
    EXPECT_GT(node.longest.duration_ns(), 0) << node.name;
  }
  EXPECT_GT(counted, 3u);
}

TEST(AttributionTreeTest, WorkOutsideOfModulesBelongsToItsPhaseAndTheRestToNothing) {
  StoreBuilder build;
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId main = build.Thread(process);
  const ThreadId engine = build.Thread(process);
  build.Phase(main, Phase::kBackward, "backward", 100, 200);
  build.Kernel(engine, "from_the_engine", 150, 300, 310);  // nothing is open on its thread
  build.Phase(main, Phase::kOptimizerStep, "SGD.step", 400, 500);
  build.Operator(main, "aten::add_", 420, 440);
  build.Kernel(main, "add", 430, 600, 620);
  build.Kernel(main, "alone", 800, 900, 940);
  const Store store = build.Build();
  const AttributionTree tree = TreeOf(store);
  EXPECT_EQ(Find(tree, "~backward > ~from_the_engine")->self_ns, 10);
  EXPECT_EQ(Find(tree, "optimizer")->cpu_forward_ns, 100);
  EXPECT_EQ(Find(tree, "optimizer")->self_ns, 80);
  EXPECT_EQ(Find(tree, "optimizer > aten::add_ > add")->self_ns, 20);
  const TreeNode* alone = Find(tree, "belongs to nothing > alone");
  const auto row = static_cast<size_t>(alone - tree.nodes.data());
  EXPECT_EQ(tree.self_ns[(row + 1) * tree.columns() - 1], 40);  // in no step
}

TEST(AttributionTreeTest, ANodeHasItsTimeInEveryStepAndTheirSumIsThatOfTheTables) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int step = 0; step < 300; ++step) {
    const int64_t at = step * 1'000'000;
    const int64_t work = 100'000 + step * 1000;
    build.Range(main, "step " + std::to_string(step), at, at + 900'000);
    build.Module(main, "Net", "Net", at + 10, at + 20'000 + work);
    build.Operator(main, "aten::linear", at + 100, at + 10'000 + work);
    build.Operator(main, "aten::addmm", at + 200, at + 200 + work);
    build.Kernel(main, "gemm", at + 300, at + 500'000, at + 500'000 + work);
  }
  const Store store = build.Build();
  const RunOverview overview = BuildOverview(store);
  const AttributionTree& tree = overview.tree;
  ASSERT_TRUE(tree.per_step);
  ASSERT_LE(tree.bins.size(), 96u);
  uint32_t steps = 0;
  for (const StepBin& bin : tree.bins) steps += bin.steps;
  EXPECT_EQ(steps, 300u);
  // Own times of the operators of one name, as the operator table has them.
  const StringId name = overview.operators.by_name.front().name;
  double self_ns = 0;
  int64_t whole_run_ns = 0;
  double gpu_ns = 0;
  for (size_t row = 0; row < tree.nodes.size(); ++row) {
    const TreeNode& node = tree.nodes[row];
    if (IsGpuWork(node.kind)) gpu_ns += node.self_ns;
    if (node.kind != TreeKind::kOperator || node.name != store.Text(name)) continue;
    self_ns += node.self_ns;
    for (size_t bin = 0; bin < tree.columns(); ++bin) {
      whole_run_ns += tree.self_ns[row * tree.columns() + bin];
    }
  }
  EXPECT_NEAR(self_ns, overview.operators.by_name.front().self_per_step_ns, 1);
  EXPECT_EQ(whole_run_ns, overview.operators.by_name.front().self_ns);
  double kernels_ns = 0;
  for (const KernelRow& row : overview.gpu.kernels) kernels_ns += row.per_step_ns;
  EXPECT_NEAR(gpu_ns, kernels_ns, 1);
}

// Rank r works r + 1 times as long in a step, and has a module of its own.
Store RunOfRanks(int ranks, int steps) {
  StoreBuilder build;
  for (int rank = 0; rank < ranks; ++rank) {
    const ThreadId main = build.Thread(build.Process(uint32_t(100 + rank), "train.py", rank));
    for (int step = 0; step < steps; ++step) {
      const int64_t at = step * 1'000'000;
      const int64_t work = (rank + 1) * (1000 + step);
      build.Range(main, "step " + std::to_string(step), at, at + 900'000 - rank * rank);
      build.Module(main, "Net", "Net", at + 10, at + 20'000 + work);
      build.Module(main, "of_rank_" + std::to_string(rank), "Linear", at + 20, at + 10'000 + work);
      build.Operator(main, "aten::addmm", at + 200, at + 200 + work);
      build.Kernel(main, "gemm", at + 300, at + 500'000, at + 500'000 + work);
    }
  }
  return build.Build();
}

// A node's time and calls in the bins of a rank that count.
std::pair<int64_t, uint64_t> CountingSums(const AttributionTree& tree, const RankBins& rank,
                                          size_t node) {
  std::pair<int64_t, uint64_t> sums{};
  for (size_t bin = 0; bin < rank.bins.size(); ++bin) {
    if (!rank.bins[bin].steady) continue;
    sums.first += tree.rank_self_ns[node * tree.rank_columns + rank.column + bin];
    sums.second += tree.rank_calls[node * tree.rank_columns + rank.column + bin];
  }
  return sums;
}

TEST(AttributionTreeTest, ARankHasTheNumbersOfItsOwnTree) {
  for (const int ranks : {2, 3, 20}) {
    const Store store = RunOfRanks(ranks, 300);
    const AttributionTree all =
        BuildOverview(store, {.steps = {.first_step = 5, .last_step = 211}}).tree;
    ASSERT_EQ(all.ranks.size(), size_t(ranks));
    EXPECT_LE(all.rank_columns, BinFinder::kMostRankColumns);
    EXPECT_EQ(all.rank_self_ns.size(), all.nodes.size() * all.rank_columns);
    for (const RankBins& rank : all.ranks) {
      const AttributionTree own =
          BuildOverview(store, {.steps = {.first_step = 5, .last_step = 211, .rank = rank.rank}})
              .tree;
      EXPECT_TRUE(own.ranks.empty());
      EXPECT_EQ(rank.step_ns, own.step_ns);
      ASSERT_EQ(all.nodes.size(), own.nodes.size());
      for (size_t node = 0; node < all.nodes.size(); ++node) {
        const auto [ns, calls] = CountingSums(all, rank, node);
        EXPECT_NEAR(double(ns) / 207, own.nodes[node].self_ns, 1e-6) << PathOf(all, node);
        EXPECT_NEAR(double(calls) / 207, own.nodes[node].calls, 1e-6) << PathOf(all, node);
      }
    }
  }
}

TEST(AttributionTreeTest, TheTimesOfTheRanksAddUpToThoseOfAll) {
  const Store store = RunOfRanks(2, 50);
  const AttributionTree tree = TreeOf(store);
  ASSERT_EQ(tree.bins.size(), 50u);
  ASSERT_EQ(tree.rank_columns, 100u);  // every step of both
  for (size_t node = 0; node < tree.nodes.size(); ++node) {
    for (size_t bin = 0; bin < 50; ++bin) {
      EXPECT_EQ(tree.self_ns[node * 51 + bin],
                tree.rank_self_ns[node * 100 + bin] + tree.rank_self_ns[node * 100 + 50 + bin]);
    }
  }
}

TEST(AttributionTreeTest, OfVeryManyRanksTheFirstAreKeptApart) {
  const AttributionTree tree = TreeOf(RunOfRanks(70, 8));
  EXPECT_EQ(tree.ranks.size(), BinFinder::kMostRanks);
  EXPECT_EQ(tree.ranks.back().rank, 63);
  EXPECT_EQ(TreeOf(RunOfRanks(1, 8)).rank_columns, 0u);
}

TEST(AttributionTreeTest, StepsThatCountAreKeptApartHoweverOftenTheyTakeTurns) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  StepSet steps;
  steps.processes.push_back({.process = ProcessId::At(0), .thread = main});
  ProcessSteps& process = steps.processes.front();
  for (int64_t step = 0; step < 1000; ++step) {
    process.steps.push_back({.start_ns = step * 10, .end_ns = step * 10 + 10});
    if (step % 2 == 1) process.steady.push_back(uint32_t(step));
  }
  const Store store = build.Build();
  BinFinder bins(store, steps);
  ASSERT_LE(bins.bins().size(), BinFinder::kMost);
  uint32_t counted = 0;
  for (const StepBin& bin : bins.bins()) counted += bin.steady ? bin.steps : 0;
  EXPECT_EQ(counted, 500u);
  for (int64_t step = 0; step < 1000; ++step) {
    const StepBin& bin = bins.bins()[bins.Of(main, step * 10).bin];
    EXPECT_EQ(bin.steady, step % 2 == 1);
    EXPECT_LE(bin.first_step, step);
  }
}

TEST(AttributionTreeTest, TheLargestNodesAreATree) {
  const Store store = testing::MakeSampleRun({.gpu = true});
  const AttributionTree tree = TreeOf(store);
  const std::vector<uint32_t> largest = tree.LargestNodes(12);
  ASSERT_EQ(largest.size(), 12u);
  for (const uint32_t row : largest) {
    const int32_t parent = tree.nodes[row].parent;
    if (parent < 0) continue;
    EXPECT_TRUE(std::binary_search(largest.begin(), largest.end(), uint32_t(parent)));
  }
}

TEST(AttributionTreeTest, NamesMadeToDifferArePutTogether) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int i = 0; i < 70'000; ++i) {
    build.Operator(main, "op" + std::to_string(i), i * 10, i * 10 + 5);
  }
  const Store store = build.Build();
  const AttributionTree tree = TreeOf(store);
  EXPECT_LT(tree.nodes.size(), 60'010u);
  EXPECT_EQ(Find(tree, "(others)")->self_ns, 5 * 10'000);
}

}  // namespace
}  // namespace batchlight
