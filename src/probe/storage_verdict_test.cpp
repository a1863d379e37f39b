#include "probe/storage_verdict.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"
#include "probe/storage_tables.h"
#include "probe/storage_text.h"

namespace batchlight::probe {
namespace {

const StorageCase& Case(StorageKind kind, uint64_t block_bytes) {
  for (const StorageCase& what : StorageCases()) {
    if (what.kind == kind && what.block_bytes == block_bytes) return what;
  }
  return StorageCases().front();
}

StorageMeasurement Row(StorageKind kind, uint64_t block_bytes, CacheState cache, int workers,
                       double bytes_per_s) {
  StorageMeasurement row;
  row.what = &Case(kind, block_bytes);
  row.cache = cache;
  row.resident_share = cache == CacheState::kCold ? 0 : 1;
  row.workers = workers;
  row.operations = 100;
  row.operations_per_s = bytes_per_s / double(block_bytes);
  row.bytes_per_s = bytes_per_s;
  row.p50_ns = 1e6;
  row.p99_ns = 2e6;
  return row;
}

StorageMeasurements Sample() {
  constexpr auto kSequential = StorageKind::kSequentialRead;
  StorageMeasurements found;
  found.path = "/data";
  found.file_system = "nfs4";
  found.rows = {
      Row(kSequential, 1 << 17, CacheState::kCold, 1, 1.0e9),
      Row(kSequential, 1 << 17, CacheState::kCold, 4, 2.048e9),
      Row(kSequential, 1 << 20, CacheState::kCold, 4, 6.354e9),
      Row(kSequential, 1 << 20, CacheState::kWarm, 4, 50e9),
      Row(StorageKind::kSmallFiles, 100 << 10, CacheState::kCold, 16, 0.1e9),
      Row(StorageKind::kSmallFiles, 100 << 10, CacheState::kWarm, 16, 2e9),
  };
  return found;
}

TEST(StorageVerdict, AcceleratorsFed) {
  const std::vector<FedAccelerators> fed = FeedAccelerators(Sample());
  ASSERT_EQ(fed.size(), 3U);
  EXPECT_EQ(fed[0].workload, "unet3d");
  EXPECT_NEAR(fed[0].needed_bytes_per_s, 3.177e9, 1e6);
  EXPECT_NEAR(fed[0].accelerators, 2, 0.001);
  EXPECT_EQ(fed[1].workload, "resnet50");
  EXPECT_NEAR(fed[1].accelerators, 10, 0.01);
  EXPECT_EQ(fed[1].measured->workers, 4) << "the best number of workers";
  EXPECT_EQ(fed[2].workload, "cosmoflow");
  EXPECT_NEAR(fed[2].accelerators, 7.86, 0.01);
}

TEST(StorageVerdict, WarmFiguresFeedNobody) {
  StorageMeasurements found = Sample();
  for (StorageMeasurement& row : found.rows) row.cache = CacheState::kWarm;
  for (const FedAccelerators& row : FeedAccelerators(found)) EXPECT_EQ(row.measured, nullptr);
}

// Ten steps of 100 ms; in each, files of 50 kB are read, and a library once.
Store RunOfSmallFiles(int files_per_step, bool with_files = true) {
  testing::StoreBuilder build;
  const ProcessId process = build.Process(1, "train.py", 0);
  const ThreadId thread = build.Thread(process);
  const auto add = [&](std::string_view file, int64_t start_ns, int64_t end_ns, uint64_t bytes) {
    OsFilesTable& files = build.store().os_files;
    files.start_ns.push_back(start_ns);
    files.end_ns.push_back(end_ns);
    files.process.push_back(process);
    files.file.push_back(build.Text(file));
    files.reads.push_back(1);
    files.bytes_read.push_back(bytes);
    files.read_ns.push_back(1000);
    files.writes.push_back(0);
    files.bytes_written.push_back(0);
    files.write_ns.push_back(0);
    files.slowest_ns.push_back(1000);
  };
  constexpr int64_t kStepNs = 100'000'000;
  for (int64_t step = 0; step < 10; ++step) {
    const int64_t begin = (step + 1) * kStepNs;
    build.Range(thread, "step " + std::to_string(step), begin, begin + kStepNs);
    for (int i = 0; with_files && i < files_per_step; ++i) {
      add("/data/" + std::to_string(step * 1000 + i) + ".jpg", begin + 1000, begin + 2000, 50'000);
    }
  }
  if (with_files) {
    add("/data/before.bin", 10, 20, 1'000'000'000);  // not in a step
    add("/usr/lib/libx.so", 2 * kStepNs, 2 * kStepNs + 5, 1'000'000'000);
    add("socket:[17]", 2 * kStepNs, 2 * kStepNs + 5, 1'000'000'000);
  }
  return build.Build();
}

TEST(StorageVerdict, WhatAStepReads) {
  const auto reads = ReadsOfRun("run.batchlight", RunOfSmallFiles(200));
  ASSERT_TRUE(reads.ok()) << reads.status().message();
  EXPECT_EQ(reads->steps, 10U);
  EXPECT_DOUBLE_EQ(reads->step_ns, 100e6);
  EXPECT_DOUBLE_EQ(reads->bytes_per_step, 10e6);
  EXPECT_DOUBLE_EQ(reads->files_per_step, 200);
  EXPECT_DOUBLE_EQ(reads->bytes_per_file, 50e3);
}

TEST(StorageVerdict, SlowStorageLimitsTheStep) {
  const auto reads = ReadsOfRun("run.batchlight", RunOfSmallFiles(400));
  ASSERT_TRUE(reads.ok());
  const RunVerdict verdict = CompareWithRun(Sample(), *reads.operator->());
  ASSERT_NE(verdict.measured, nullptr);
  EXPECT_EQ(verdict.measured->what->kind, StorageKind::kSmallFiles);
  EXPECT_NEAR(verdict.needed_bytes_per_s, 0.2e9, 1);
  EXPECT_NEAR(verdict.times_needed, 0.5, 1e-6);
  EXPECT_NEAR(verdict.step_ns, 200e6, 1);
  StorageReport report{Sample(), FeedAccelerators(Sample()), "run.batchlight", verdict};
  EXPECT_NE(StorageText(report).find("a step cannot be shorter than 200 ms"), std::string::npos)
      << StorageText(report);
}

TEST(StorageVerdict, RunsThatDoNotTellSaySo) {
  const auto without = ReadsOfRun("run.batchlight", RunOfSmallFiles(1, false));
  ASSERT_FALSE(without.ok());
  EXPECT_NE(without.status().message().find("osrt"), std::string::npos);
  const auto nothing = ReadsOfRun("run.batchlight", RunOfSmallFiles(0));
  ASSERT_FALSE(nothing.ok());
  EXPECT_NE(nothing.status().message().find("mmap"), std::string::npos);
  const auto no_steps = ReadsOfRun("run.batchlight", testing::StoreBuilder().Build());
  ASSERT_FALSE(no_steps.ok());
  EXPECT_NE(no_steps.status().message().find("no steps"), std::string::npos);
}

TEST(StorageVerdict, BlocksOfAnOpenFileAreRandomReads) {
  RunReads reads;
  reads.steps = 10;
  reads.step_ns = 1e8;
  reads.bytes_per_step = 1e6;
  reads.bytes_per_read = 5000;
  reads.files_per_step = 0.1;
  reads.bytes_per_file = 1e8;
  StorageMeasurements found = Sample();
  found.rows.push_back(Row(StorageKind::kRandomRead, 4096, CacheState::kCold, 4, 20e6));
  const RunVerdict verdict = CompareWithRun(found, reads);
  ASSERT_NE(verdict.measured, nullptr);
  EXPECT_EQ(verdict.measured->what->kind, StorageKind::kRandomRead);
  EXPECT_NEAR(verdict.times_needed, 2, 1e-9);
}

TEST(StorageTables, ChartHasReadsByWorkers) {
  const ResultTable chart = StorageChartTable(Sample());
  EXPECT_EQ(chart.title, "Storage, cold reads");
  EXPECT_EQ(chart.rows.size(), 3U);
  EXPECT_EQ(StorageTable(Sample()).rows.size(), 6U);
}

}  // namespace
}  // namespace batchlight::probe
