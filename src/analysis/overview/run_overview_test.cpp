// The head of every view, the losses, and the registry of tables.
#include "analysis/overview/run_overview.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/tables/registry.h"
#include "analysis/testing/store_builder.h"
#include "format/records.h"
#include "store/reason_features.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

TEST(Losses, AreSummedOverProcessesAndSortedBySeverity) {
  StoreBuilder build;
  const ProcessId first = build.Process(1, "a");
  const ProcessId second = build.Process(2, "b");
  auto lose = [&](ProcessId process, format::Counter counter, uint64_t value) {
    build.store().losses.Append(
        {.process = process, .counter = static_cast<uint32_t>(counter), .value = value});
  };
  lose(first, format::Counter::kPopsUnbalanced, 3);
  lose(first, format::Counter::kEventsDroppedBudget, 1000);
  lose(second, format::Counter::kEventsDroppedBudget, 234);
  lose(second, format::Counter::kChunksWritten, 5);
  build.store().losses.Append({.process = first, .counter = 9999, .value = 1});
  for (const ProcessId process : {first, second}) {
    build.store().reasons.Append(
        {.process = process, .feature = build.Text("cuda"), .text = build.Text("no libcupti")});
  }
  const Store store = build.Build();
  const std::vector<LossWarning> losses = FindLosses(store);
  ASSERT_EQ(losses.size(), 3u);
  EXPECT_EQ(losses[0].severity, LossSeverity::kDataLoss);
  EXPECT_EQ(losses[0].text, "1,234 events dropped because the memory budget was used up");
  EXPECT_EQ(losses[0].advice, "raise --buffer-budget");
  EXPECT_EQ(losses[0].processes, 2u);
  EXPECT_EQ(losses[1].text, "no libcupti") << "a reason is told once";
  EXPECT_EQ(losses[2].name, "PopsUnbalanced");
  EXPECT_EQ(FindLosses(store, true).size(), 4u);
}

// A copy that was left out takes nothing from the run.
TEST(Losses, HowAJobWasReadIsANotice) {
  StoreBuilder build;
  const ProcessId process = build.Process(1, "train.py");
  for (const std::string_view feature : {kUnreadFeature, kJobFeature, kInputFeature}) {
    build.store().reasons.Append({.process = process,
                                  .feature = build.Text(std::string(feature)),
                                  .text = build.Text("of " + std::string(feature))});
  }
  const std::vector<LossWarning> losses = FindLosses(build.Build());
  ASSERT_EQ(losses.size(), 3u);
  EXPECT_EQ(SeverityName(losses[0].severity), "error") << losses[0].text;
  EXPECT_EQ(SeverityName(losses[1].severity), "notice") << losses[1].text;
  EXPECT_EQ(SeverityName(losses[2].severity), "info") << losses[2].text;
}

TEST(SessionInfo, TellsWhatRanAndHowItEnded) {
  StoreBuilder build;
  const ProcessId launcher = build.Process(10, "torchrun");
  const ProcessId rank = build.Process(11, "train.py", 0);
  build.store().processes.parent[rank.row()] = launcher;
  build.store().processes.exit_code[rank.row()] = -1;
  build.store().processes.exit_signal[rank.row()] = 9;
  build.Range(build.Thread(rank), "step", 0, 10);
  build.Property("session.command", "torchrun train.py");
  build.Property("torch.version", "2.4.0", rank);
  const Store store = build.Build();
  const SessionInfo info = DescribeSession(store);
  EXPECT_EQ(info.command, "torchrun train.py");
  ASSERT_EQ(info.processes.size(), 2u);
  EXPECT_EQ(info.processes[1].parent, 0);
  EXPECT_EQ(info.processes[1].ExitText(), "signal 9 (SIGKILL)");
  EXPECT_EQ(info.processes[0].ExitText(), "exit 0");
  EXPECT_EQ(info.processes[1].events, 1u);
  EXPECT_EQ(info.processes[1].threads, 1u);
  EXPECT_EQ(info.events, 1u);
  ASSERT_EQ(info.software.size(), 1u);
  EXPECT_EQ(info.software[0].second, "2.4.0");
}

TEST(SessionInfo, WithoutAGpuNothingIsSaidOfCuda) {
  for (const bool has_gpu : {false, true}) {
    testing::StoreBuilder build;
    const ThreadId main = build.Thread(build.Process(1, "train.py"));
    build.Property("torch.version", "2.11.0+cu130");
    build.Property("torch.cuda_version", "13.0");
    if (has_gpu) build.Kernel(main, "kernel", 0, 10, 20);
    const SessionInfo info = DescribeSession(build.Build());
    ASSERT_EQ(info.software.size(), has_gpu ? 2u : 1u);
    EXPECT_EQ(info.software.front().first, "PyTorch");
  }
}

TEST(SessionInfo, WhatIsNotKnownOfAnEndIsNotMadeUp) {
  StoreBuilder build;
  const ProcessId shell = build.Process(10, "sh");
  const ProcessId image = build.Process(10, "python");
  const ProcessId worker = build.Process(11, "worker");
  const ProcessId alive = build.Process(12, "daemon");
  const ProcessId outside = build.Process(13, "static");
  ProcessesTable& table = build.store().processes;
  table.command_line[outside.row()] = {};  // by samples alone
  for (const ProcessId process : {shell, image, worker, alive, outside}) {
    table.exit_code[process.row()] = table.exit_signal[process.row()] = -1;
    table.end_ns[process.row()] = process == alive ? kOpenEnd : 100;
  }
  table.exit_code[image.row()] = 3;
  table.exit_signal[image.row()] = 0;
  build.store().source_format = "batchlight";
  const Store store = build.Build();
  const std::vector<ProcessInfo> processes = DescribeSession(store).processes;
  EXPECT_EQ(processes[shell.row()].ExitText(), "became another program");
  EXPECT_EQ(processes[image.row()].ExitText(), "exit 3");
  EXPECT_EQ(processes[worker.row()].ExitText(), "killed, or left by a system call of its own");
  EXPECT_EQ(processes[alive.row()].ExitText(), "end unknown");
  EXPECT_EQ(processes[outside.row()].ExitText(), "end unknown");
}

TEST(Registry, EveryTableHasRowsAsWideAsItsHeader) {
  StoreBuilder build;
  const ProcessId process = build.Process(1, "train.py");
  const ThreadId thread = build.Thread(process);
  for (int i = 0; i < 6; ++i) {
    const int64_t at = i * 100;
    build.Range(thread, "step", at, at + 90);
    build.Range(thread, "forward", at + 10, at + 30);
    build.Module(thread, "Net", "Net", at + 12, at + 28);
    build.Operator(thread, "aten::mm", at + 14, at + 20, i, 0, OperatorScope::kFunction,
                   "[[2, 2], [2, 2]]");
    build.Kernel(thread, "gemm", at + 15, at + 20, at + 40);
  }
  build.store().losses.Append({.process = process, .counter = 1, .value = 2});
  const Store store = build.Build();
  const RunOverview overview = BuildOverview(store);
  std::set<std::string_view> names;
  for (const TableEntry& entry : OverviewTables()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.sentence.empty());
    const ResultTable table = entry.make(overview);
    EXPECT_EQ(table.name, entry.name);
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << table.name;
  }
  EXPECT_EQ(FindOverviewTable("steps")->make(overview).rows.size(), 6u);
  EXPECT_EQ(FindOverviewTable("operators_by_shape")->make(overview).rows.size(), 1u);
  EXPECT_EQ(FindOverviewTable("nothing"), nullptr);
}

// Every table of an empty store is empty, and nothing breaks.
TEST(Registry, OfAnEmptyStore) {
  const Store store;
  const RunOverview overview = BuildOverview(store);
  for (const TableEntry& entry : OverviewTables()) {
    EXPECT_TRUE(entry.make(overview).rows.empty()) << entry.name;
  }
}

constexpr int64_t kMs = 1'000'000;

// 20 steps of 10 ms, each of which waits 3 ms for data; the GPU works from `busy_from_ns` on.
GpuBreakdown Loop(int64_t busy_from_ns) {
  StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t t = 0; t < 200 * kMs; t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.Phase(thread, Phase::kDataLoaderNext, "DataLoader", t + 1000, t + 1000 + 3 * kMs);
    build.Kernel(thread, "nvjet_hsh_128", t + busy_from_ns - 100, t + busy_from_ns, t + 10 * kMs);
  }
  const Store store = build.Build();
  return BuildOverview(store).gpu.breakdowns.at(0);
}

TEST(RunOverview, DataLoadingBehindABusyGpuIsHidden) {
  EXPECT_NEAR(Loop(600).hidden_loading_ns, 3.0 * kMs, 0.01 * kMs);
}

TEST(RunOverview, DataLoadingThatTheGpuWaitsForIsNot) {
  EXPECT_EQ(Loop(4 * kMs).hidden_loading_ns, 0);
}

}  // namespace
}  // namespace batchlight
