#include "analysis/gpu/gpu_summary.h"

#include <gtest/gtest.h>

#include "analysis/overview/run_overview.h"
#include "analysis/tables/registry.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

// Five even steps; each runs a module with one GEMM and, in a range, an elementwise kernel.
Store FiveSteps() {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 5; ++i) {
    const int64_t t = i * 100'000;
    build.Range(main, "step", t, t + 90'000);
    build.Module(main, "Net", "Net", t + 1'000, t + 50'000);
    build.Operator(main, "aten::mm", t + 2'000, t + 20'000);
    build.Kernel(main, "nvjet_hsh_128", t + 3'000, t + 10'000, t + 40'000);
    build.Kernel(main, "elementwise_kernel", t + 60'000, t + 70'000, t + 80'000);
  }
  return build.Build();
}

TEST(GpuSummary, KernelsPerStep) {
  const Store store = FiveSteps();
  const RunOverview overview = BuildOverview(store);
  ASSERT_EQ(overview.gpu.kernels.size(), 2u);
  const KernelRow& gemm = overview.gpu.kernels[0];
  EXPECT_EQ(store.Text(gemm.name), "nvjet_hsh_128");
  EXPECT_EQ(gemm.calls, 5u);
  EXPECT_EQ(gemm.total_ns, 150'000);
  EXPECT_DOUBLE_EQ(gemm.per_step_ns, 30'000);
  EXPECT_DOUBLE_EQ(gemm.share, 0.75);
  EXPECT_EQ(gemm.kind.kind, KernelKind::kGemm);
}

TEST(GpuSummary, GpuTimeReachesOperatorModuleAndRange) {
  const Store store = FiveSteps();
  const RunOverview overview = BuildOverview(store);
  EXPECT_EQ(overview.operators.by_name[0].gpu_ns, 150'000);
  EXPECT_EQ(overview.modules.rows[0].gpu_ns, 150'000);
  EXPECT_EQ(overview.modules.rows[0].gpu_per_step_ns, 30'000);
  EXPECT_EQ(overview.operators.by_name[0].gpu_per_step_ns, 30'000);
  EXPECT_EQ(overview.nvtx.rows[0].gpu_ns, 200'000);
  EXPECT_EQ(overview.gpu.unattributed_ns, 0);
}

TEST(GpuSummary, TablesHaveAsManyCellsAsColumns) {
  const Store store = FiveSteps();
  const RunOverview overview = BuildOverview(store);
  for (const TableEntry& entry : OverviewTables()) {
    const ResultTable table = entry.make(overview);
    EXPECT_EQ(table.name, entry.name);
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << table.name;
  }
}

}  // namespace
}  // namespace batchlight
