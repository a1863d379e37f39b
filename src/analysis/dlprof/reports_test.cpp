#include "analysis/dlprof/reports.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace batchlight::dlprof {
namespace {

using batchlight::testing::StoreBuilder;

// Four steps with one linear layer, forward and backward, on Tensor Cores, and a relu.
Store FourSteps() {
  StoreBuilder build;
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId main = build.Thread(process);
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t t = i * 100'000;
    build.Range(main, "step", t, t + 99'000);
    build.Module(main, "net.linear", "Linear", t + 1'000, t + 30'000);
    build.Operator(main, "aten::linear", t + 2'000, t + 28'000, i);
    build.Operator(main, "aten::addmm", t + 3'000, t + 27'000, i);
    build.Kernel(main, "nvjet_hsh_128", t + 4'000, t + 10'000, t + 20'000);
    build.Operator(main, "aten::relu", t + 40'000, t + 45'000);
    build.Kernel(main, "elementwise_kernel", t + 41'000, t + 50'000, t + 55'000);
    build.Operator(main, "AddmmBackward0", t + 60'000, t + 90'000, i, 1, OperatorScope::kBackward);
    build.Kernel(main, "nvjet_hsh_128", t + 61'000, t + 70'000, t + 90'000);
  }
  return build.Build();
}

const OpNode* Find(const Model& model, std::string_view name, std::string_view direction) {
  for (const OpNode& op : model.ops) {
    if (op.name == name && op.direction == direction) return &op;
  }
  return nullptr;
}

TEST(DlprofModel, OpsAreTheOutermostOperators) {
  const Store store = FourSteps();
  Result<Model> model = BuildModel(BuildOverview(store), {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  const OpNode* linear = Find(model.value(), "net.linear/aten::linear", "fprop");
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(linear->cpu.count, 4u);
  EXPECT_EQ(linear->gpu.total_ns, 40'000);
  EXPECT_TRUE(linear->uses_tensor_cores);
  const OpNode* backward = Find(model.value(), "net.linear/AddmmBackward0", "bprop");
  ASSERT_NE(backward, nullptr);
  EXPECT_EQ(backward->gpu.total_ns, 80'000);
  EXPECT_EQ(model->kernels.size(), 12u);
  EXPECT_EQ(model->iterations.size(), 4u);
}

TEST(DlprofModel, RangeLeavesTheRestOut) {
  const Store store = FourSteps();
  Result<Model> model =
      BuildModel(BuildOverview(store), {.first_iteration = 1, .last_iteration = 2});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->kernels.size(), 6u);
  EXPECT_EQ(model->kernels.front().iteration, 1u);
  model = BuildModel(BuildOverview(store), {.first_iteration = 2, .last_iteration = 9});
  EXPECT_NE(model->notice.find("2 to 3"), std::string::npos) << model->notice;
  model = BuildModel(BuildOverview(store), {.first_iteration = 9});
  EXPECT_NE(model->notice.find("0 to 3"), std::string::npos) << model->notice;
  EXPECT_EQ(model->kernels.size(), 12u);
}

// Copies and kernels that no operator launched: in a module's forward, in a traced call, in
// nothing.
TEST(DlprofModel, NoWorkIsLost) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t t = i * 100'000;
    build.Range(main, "step", t, t + 99'000);
    build.Module(main, "net", "Net", t + 1'000, t + 30'000);
    build.Operator(main, "aten::relu", t + 2'000, t + 5'000);
    build.Kernel(main, "elementwise_kernel", t + 3'000, t + 4'000, t + 5'000);
    build.Kernel(main, "my_triton_kernel", t + 6'000, t + 7'000, t + 9'000);
    build.Kernel(main, "stray_kernel", t + 40'000, t + 41'000, t + 44'000);
    build.Kernel(main, "stray_kernel", t + 50'000, t + 51'000, t + 54'000);
  }
  const Store store = build.Build();
  const RunOverview overview = BuildOverview(store);
  const Result<Model> model = BuildModel(overview, {});
  ASSERT_TRUE(model.ok());
  const OpNode* module = Find(model.value(), "net/Net", "fprop");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->gpu.total_ns, 4'000);
  EXPECT_EQ(module->cpu.count, 2u);
  const OpNode* nobody = Find(model.value(), kNoOpName, "fprop");
  ASSERT_NE(nobody, nullptr);
  EXPECT_EQ(nobody->gpu.total_ns, 12'000);
  EXPECT_EQ(nobody->idle.total_ns, 0);
  EXPECT_EQ(model->kernels.size(), 8u);
  const Result<Model> simple = BuildModel(overview, {.simple = true});
  EXPECT_EQ(simple->ops[0].gpu.total_ns, 18'000);
  EXPECT_EQ(simple->ops[0].cpu.total_ns, simple->range_ns);
}

// A warm-up that takes ten times as long, then steps with a range `backward` and a range that calls
// itself.
TEST(DlprofModel, WarmUpDoesNotCountAndRangesHaveADirection) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(7, "train.py"));
  int64_t t = 0;
  for (int step = 0; step < 12; ++step) {
    const int64_t unit = step == 0 ? 10'000 : 1'000;
    build.Range(main, "step", t, t + 99 * unit);
    build.Range(main, "forward", t + unit, t + 40 * unit);
    build.Range(main, "visit", t + 2 * unit, t + 30 * unit);
    build.Range(main, "visit", t + 3 * unit, t + 20 * unit);
    build.Range(main, "backward", t + 50 * unit, t + 90 * unit);
    build.Range(main, "grad_norm", t + 60 * unit, t + 70 * unit);
    t += 100 * unit;
  }
  const Store store = build.Build();
  const RunOverview overview = BuildOverview(store);
  const Result<Model> model = BuildModel(overview, {});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->counted_iterations, 11);
  EXPECT_EQ(model->first_iteration, 1);
  EXPECT_EQ(model->range_ns, overview.steps.Main()->duration.total);
  const OpNode* backward = Find(model.value(), "backward", "bprop");
  ASSERT_NE(backward, nullptr);
  EXPECT_EQ(backward->cpu.average_ns(), 40'000);
  EXPECT_NE(Find(model.value(), "grad_norm", "bprop"), nullptr);
  const OpNode* visit = Find(model.value(), "visit", "fprop");
  ASSERT_NE(visit, nullptr);
  EXPECT_EQ(visit->cpu.count, 11u) << "the outer call once";
  EXPECT_EQ(visit->cpu.total_ns, 11 * 28'000);
  const Result<Model> all = BuildModel(overview, {.first_iteration = 0, .last_iteration = 11});
  EXPECT_EQ(all->counted_iterations, 12) << "as asked";
}

TEST(DlprofModel, SimpleModeHasOneOp) {
  const Store store = FourSteps();
  Result<Model> model = BuildModel(BuildOverview(store), {.simple = true});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->ops.size(), 1u);
}

TEST(DlprofModel, MissingNamesAreErrorsWithHelp) {
  const Store store = FourSteps();
  const Result<Model> domain =
      BuildModel(BuildOverview(store), {.domain = "nope", .use_domain = true});
  ASSERT_FALSE(domain.ok());
  EXPECT_NE(domain.status().message().find("default"), std::string::npos);
  const RunOverview no_key = BuildOverview(store, {.steps = {.key = "global_stp"}});
  EXPECT_EQ(BuildModel(no_key, {})->iterations.size(), 4u) << "found without it";
}

TEST(DlprofReports, EveryRowFitsItsColumns) {
  const Store store = FourSteps();
  Result<Model> model = BuildModel(BuildOverview(store), {});
  ASSERT_TRUE(model.ok());
  for (const ReportEntry& entry : Reports()) {
    const ResultTable table = entry.make(store, model.value());
    EXPECT_FALSE(table.rows.empty()) << entry.option;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << entry.option;
  }
}

TEST(DlprofReports, DomainReportsUseRanges) {
  const Store store = FourSteps();
  Result<Model> model = BuildModel(BuildOverview(store), {.domain = "default", .use_domain = true});
  ASSERT_TRUE(model.ok());
  ASSERT_EQ(model->ops.size(), 1u);
  EXPECT_EQ(model->ops[0].name, "step");
  EXPECT_EQ(model->ops[0].gpu.total_ns, 140'000);
}

}  // namespace
}  // namespace batchlight::dlprof
