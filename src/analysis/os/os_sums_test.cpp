#include <gtest/gtest.h>

#include "analysis/os/data_files.h"
#include "analysis/os/file_sums.h"
#include "analysis/os/library_sums.h"
#include "analysis/os/lock_waits.h"
#include "analysis/os/os_call_sums.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

class OsSumsTest : public ::testing::Test {
 protected:
  void Call(ThreadId thread, const char* name, int64_t start_ns, int64_t end_ns,
            uint64_t bytes = 0) {
    build.store().os_calls.Append({.start_ns = start_ns,
                                   .end_ns = end_ns,
                                   .thread = thread,
                                   .name = build.Text(name),
                                   .event_class = EventClass::kOsRuntime,
                                   .bytes = bytes});
  }
  void Short(ThreadId thread, const char* name, uint64_t calls, int64_t ns, uint64_t bytes = 0) {
    build.store().os_call_counts.Append({.thread = thread,
                                         .name = build.Text(name),
                                         .calls = calls,
                                         .total_ns = ns,
                                         .bytes = bytes});
  }
  void Library(const char* name, RuntimeFamily family, int64_t start_ns, int64_t end_ns) {
    build.store().runtime_events.Append({.start_ns = start_ns,
                                         .end_ns = end_ns,
                                         .thread = main,
                                         .name = build.Text(name),
                                         .family = family});
  }

  StoreBuilder build;
  ProcessId process = build.Process(10, "train.py");
  ThreadId main = build.Thread(process);
  ThreadId other = build.Thread(process);
};

TEST_F(OsSumsTest, ShortCallsCountWithTheLongOnes) {
  Call(main, "read", 1000, 4000, 100);
  Call(other, "read", 1000, 2000, 10);
  Call(main, "sleep", 5000, 90'000);
  Short(main, "read", 7, 900, 70);
  Short(main, "sem_post", 3, 0);
  const Store store = build.Build();
  const auto sums = SumOsCalls(store);
  ASSERT_EQ(sums.size(), 3u);
  EXPECT_EQ(store.Text(sums[0].name), "sleep");
  const OsCallSum& read = sums[1];
  EXPECT_EQ(store.Text(read.name), "read");
  EXPECT_EQ(read.calls, 9u);
  EXPECT_EQ(read.recorded, 2u);
  EXPECT_EQ(read.total_ns, 4900);
  EXPECT_EQ(read.recorded_ns, 4000);
  EXPECT_EQ(read.longest_ns, 3000);
  EXPECT_EQ(read.bytes, 180u);
  EXPECT_EQ(read.threads, 2u);
  EXPECT_EQ(sums[2].calls, 3u);
  EXPECT_EQ(sums[2].recorded, 0u);
}

TEST_F(OsSumsTest, FilesOfAllProcessesBySlowness) {
  const ProcessId worker = build.Process(11, "worker");
  const auto file = [&](ProcessId by, const char* name, uint64_t bytes, int64_t ns,
                        int64_t slowest_ns) {
    build.store().os_files.Append({.start_ns = 100,
                                   .end_ns = 200,
                                   .process = by,
                                   .file = build.Text(name),
                                   .reads = 2,
                                   .bytes_read = bytes,
                                   .read_ns = ns,
                                   .slowest_ns = slowest_ns});
  };
  file(process, "/data/a", 100, 50, 30);
  file(worker, "/data/a", 200, 60, 45);
  file(worker, "/data/b", 900, 111, 60);
  const Store store = build.Build();
  const NsInSteps half_of_worker = [&](ProcessId by, int64_t start_ns, int64_t end_ns) {
    return by == worker ? (end_ns - start_ns) / 2 : 0;
  };
  const auto sums = SumFiles(store, half_of_worker);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(store.Text(sums[0].file), "/data/b");
  EXPECT_EQ(sums[0].bytes_in_steps, 450);
  EXPECT_EQ(sums[1].bytes_in_steps, 100);
  EXPECT_EQ(sums[1].bytes_read, 300u);
  EXPECT_EQ(sums[1].reads, 4u);
  EXPECT_EQ(sums[1].read_ns, 110);
  EXPECT_EQ(sums[1].slowest_ns, 45);
  EXPECT_EQ(sums[1].opened, 2u);
  EXPECT_EQ(sums[1].processes, 2u);
}

TEST_F(OsSumsTest, DataFolderHoldsMostOfWhatWasRead) {
  const auto folder_of = [&](std::initializer_list<std::pair<const char*, uint64_t>> files) {
    StoreBuilder store;
    const ProcessId reader = store.Process(10, "train.py");
    for (const auto& [name, bytes] : files) {
      store.store().os_files.Append({.start_ns = 1,
                                     .end_ns = 2,
                                     .process = reader,
                                     .file = store.Text(name),
                                     .reads = 1,
                                     .bytes_read = bytes});
    }
    return DataFolder(store.Build());
  };
  EXPECT_EQ(folder_of({}), "");
  EXPECT_EQ(folder_of({{"/usr/lib/libc.so.6", 900}, {"/srv/a/train.py", 900}, {"socket:[7]", 9}}),
            "");
  EXPECT_EQ(folder_of({{"/data/a/1.jpg", 40}, {"/data/b/2.jpg", 45}, {"/tmp/x", 9}}), "/data");
  EXPECT_EQ(folder_of({{"/data/a/1.jpg", 90}, {"/data/b/2.jpg", 50}}), "/data/a");
  EXPECT_EQ(folder_of({{"/one/1.jpg", 50}, {"/two/2.jpg", 50}}), "");
}

TEST_F(OsSumsTest, KernelsBelongToTheInnermostCall) {
  Library("cudnnBackendExecute", RuntimeFamily::kCudnn, 100, 900);
  Library("cublasLtMatmul", RuntimeFamily::kCublas, 200, 400);
  Library("GOMP_parallel", RuntimeFamily::kOpenMp, 210, 300);
  build.Kernel(main, "gemm", 220, 1000, 1600);
  build.Kernel(main, "relu", 500, 1600, 1700);
  build.Kernel(main, "alone", 950, 1700, 1900);
  const Store store = build.Build();
  const auto sums = SumLibraryCalls(store);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(store.Text(sums[0].name), "cublasLtMatmul");
  EXPECT_EQ(sums[0].family, RuntimeFamily::kCublas);
  EXPECT_EQ(sums[0].kernels, 1u);
  EXPECT_EQ(sums[0].gpu_ns, 600);
  EXPECT_EQ(sums[0].total_ns, 200);
  EXPECT_EQ(sums[1].gpu_ns, 100);
  EXPECT_EQ(sums[1].total_ns, 800);
}

TEST_F(OsSumsTest, LockWaitsHaveWhoReleasedThemAndWhatThatOneDid) {
  constexpr int64_t kMs = 1'000'000;
  Store& tables = build.store();
  for (size_t row = 0; row < 3; ++row) {
    tables.python_frames.Append({.line = uint32_t(10 * (row + 1))});
    tables.python_stacks.Append({.frame = PythonFrameId::At(row), .parent = {}});
  }
  const auto wait = [&](int64_t from_ms, int64_t to_ms, uint64_t tid) {
    tables.os_calls.Append({.start_ns = from_ms * kMs,
                            .end_ns = to_ms * kMs,
                            .thread = main,
                            .name = build.Text("sem_wait"),
                            .object = 1,
                            .released_by = uint32_t(tid)});
  };
  const uint64_t tid = tables.threads.tid[other.row()];
  wait(0, 100, tid);
  wait(200, 250, tid);
  wait(300, 310, 0);                         // not seen who
  wait(400, 405, 987'654'321);               // a thread of another process
  Call(main, "read", 500 * kMs, 600 * kMs);  // no lock
  const auto look = [&](int64_t from_ms, int64_t to_ms, size_t stack) {
    tables.python_samples.Append({.start_ns = from_ms * kMs,
                                  .end_ns = to_ms * kMs,
                                  .thread = other,
                                  .python_stack = PythonStackId::At(stack),
                                  .samples = 1});
  };
  look(0, 40, 1);
  look(40, 120, 2);
  look(120, 200, 1);
  const Store store = build.Build();
  std::vector<PythonStackId> stacks(store.os_calls.size(), PythonStackId::At(0));
  const std::vector<LockWaits> waits = SumLockWaits(
      store, stacks, [&](PythonStackId stack) { return store.python_stacks.frame[stack.row()]; });
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].waits, 2u);
  EXPECT_EQ(waits[0].total_ns, 150 * kMs);
  EXPECT_EQ(waits[0].longest_ns, 100 * kMs);
  EXPECT_EQ(waits[0].released_by, other);
  EXPECT_EQ(store.python_frames.line[waits[0].line.row()], 10u);
  EXPECT_EQ(store.python_frames.line[waits[0].their_line.row()], 30u);
  EXPECT_EQ(waits[1].waits, 2u);
  EXPECT_TRUE(waits[1].released_by.IsNone());
  EXPECT_TRUE(waits[1].their_line.IsNone());
}

}  // namespace
}  // namespace batchlight
