// Which worker and which file the loop waits for.
#include "analysis/advice/loading/waited_for.h"

#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

constexpr char kFetchFile[] = "/usr/lib/python3/dist-packages/torch/utils/data/_utils/fetch.py";

// Steps of 20 ms that wait 10 ms for a batch of two workers.
class TwoWorkers {
 public:
  // What the workers make of the time that the loop waits; `read_ns`: of a step, of the second one.
  std::string Seen(int64_t first_ns, int64_t second_ns, int64_t read_ns = 0) {
    const ThreadId workers[] = {Worker(100), Worker(101)};
    for (int i = 0; i < 200; ++i, at_ += 20 * kMs) {
      build_.Range(main_, "step", at_, at_ + 20 * kMs - 1000);
      build_.Phase(main_, Phase::kDataLoaderNext,
                   "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", at_,
                   at_ + 10 * kMs);
      build_.Operator(main_, "aten::mm", at_ + 11 * kMs, at_ + 19 * kMs);
      Sample(workers[0], at_, first_ns);
      Sample(workers[1], at_, second_ns);
    }
    if (read_ns > 0) {
      build_.store().os_files.Append({.start_ns = 10 * kMs,
                                      .end_ns = at_,
                                      .process = ProcessId::At(2),
                                      .file = build_.Text("/data/train.h5"),
                                      .reads = 200,
                                      .bytes_read = 1 << 20,
                                      .read_ns = 200 * read_ns,
                                      .slowest_ns = 80 * kMs});
    }
    const Store store = build_.Build();
    const RunOverview run = BuildOverview(store);
    const Finding* found = FindRule(run.findings, "dataloader-wait");
    action_ = found == nullptr ? "none" : found->action;
    return found == nullptr ? "none" : found->seen;
  }
  // The first batch takes a second, in a function that no later one calls.
  std::string SeenBehindASlowStart() {
    const ThreadId worker = Worker(100);
    const PythonStackId index = Stack("/home/u/table.py", "Table.read_index");
    const PythonStackId row = Stack("/home/u/table.py", "Table.__getitem__");
    for (int i = 0; i < 60; ++i) {
      const int64_t waits_ns = i == 0 ? 1000 * kMs : 10 * kMs;
      const int64_t next_ns = at_ + waits_ns + 10 * kMs;
      build_.Range(main_, "step", at_, next_ns - 1000);
      build_.Phase(main_, Phase::kDataLoaderNext,
                   "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", at_,
                   at_ + waits_ns);
      build_.Operator(main_, "aten::mm", next_ns - 9 * kMs, next_ns - kMs);
      Sample(worker, at_, waits_ns - kMs, i == 0 ? index : row);
      at_ = next_ns;
    }
    const Store store = build_.Build();
    const RunOverview run = BuildOverview(store);
    const Finding* found = FindRule(run.findings, "dataloader-wait");
    return found == nullptr ? "none" : found->seen;
  }
  // A file for each sample, eight of them in each of 200 steps.
  void ReadSamples(uint64_t bytes) {
    for (int i = 0; i < 1600; ++i) {
      const std::string file = "/data/" + std::to_string(i) + ".npy";
      const int64_t start_ns = 10 * kMs + i * 5 * kMs / 2;
      build_.store().os_files.Append({.start_ns = start_ns,
                                      .end_ns = start_ns + kMs,
                                      .process = ProcessId::At(1),
                                      .file = build_.Text(file),
                                      .reads = 2,
                                      .bytes_read = bytes,
                                      .read_ns = kMs / 100});
    }
  }
  const std::string& action() const { return action_; }

 private:
  ThreadId Worker(uint32_t pid) {
    const ProcessId worker = build_.Process(pid, "train.py");
    ProcessesTable& processes = build_.store().processes;
    processes.parent_pid[worker.row()] = 7;
    processes.parent[worker.row()] = ProcessId::At(0);
    processes.start_ns[worker.row()] = 2 * kMs;
    processes.end_ns[worker.row()] = 9000 * kMs;
    const ThreadId thread = build_.Thread(worker);
    build_.store().threads.tid[thread.row()] = pid;
    return thread;
  }
  void Sample(ThreadId thread, int64_t from_ns, int64_t ns) { Sample(thread, from_ns, ns, fetch_); }
  void Sample(ThreadId thread, int64_t from_ns, int64_t ns, PythonStackId stack) {
    build_.store().python_samples.Append({.start_ns = from_ns,
                                          .end_ns = from_ns + ns,
                                          .thread = thread,
                                          .python_stack = stack,
                                          .samples = 1});
  }
  PythonStackId Stack(const char* file, const char* function) {
    build_.store().python_frames.Append(
        {.file = build_.Text(file), .function = build_.Text(function), .first_line = 1, .line = 9});
    build_.store().python_stacks.Append(
        {.frame = PythonFrameId::At(build_.store().python_frames.size() - 1)});
    return PythonStackId::At(build_.store().python_stacks.size() - 1);
  }

  std::string action_;
  StoreBuilder build_;
  ThreadId main_ = build_.Thread(build_.Process(7, "train.py"));
  int64_t at_ = 10 * kMs;
  PythonStackId fetch_ = Stack(kFetchFile, "_MapDatasetFetcher.fetch");
};

TEST(WaitedFor, OneSlowWorkerIsNamed) {
  const std::string seen = TwoWorkers().Seen(kMs, 9 * kMs);
  EXPECT_NE(
      seen.find("Of what the workers make meanwhile, 90 % is that of the one with the PID 101."),
      std::string::npos)
      << seen;
}

TEST(WaitedFor, WorkersThatAreAlikeAreNot) {
  const std::string seen = TwoWorkers().Seen(5 * kMs, 6 * kMs);
  EXPECT_EQ(seen.find("PID"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("Reading"), std::string::npos) << seen;
}

TEST(WaitedFor, WhatOnlyTheFirstBatchTakesIsNotWhatStepsWaitFor) {
  const std::string seen = TwoWorkers().SeenBehindASlowStart();
  EXPECT_NE(seen.find("mostly in `Table.__getitem__` (table.py:9)"), std::string::npos) << seen;
}

TEST(WaitedFor, TheFileThatTheyReadIsNamed) {
  const std::string seen = TwoWorkers().Seen(5 * kMs, 6 * kMs, 4 * kMs);
  EXPECT_NE(seen.find("Reading `/data/train.h5` takes 4.00 ms of a step of the workers together, "
                      "the slowest read 80.0 ms."),
            std::string::npos)
      << seen;
  const std::string little = TwoWorkers().Seen(5 * kMs, 6 * kMs, kMs);
  EXPECT_EQ(little.find("Reading"), std::string::npos) << little;
}

TEST(WaitedFor, ManySmallFilesAreCountedAndToldToBePacked) {
  for (const uint64_t bytes : {2048, 4 << 20}) {
    TwoWorkers loop;
    loop.ReadSamples(bytes);
    const std::string seen = loop.Seen(kMs, 9 * kMs);
    const bool small = bytes == 2048;
    EXPECT_EQ(seen.find("8.00 files are opened for a step, and 2.00 KiB read of each.") !=
                  std::string::npos,
              small)
        << seen;
    EXPECT_EQ(loop.action().find("Pack the samples into few large files") == 0, small)
        << loop.action();
  }
}

}  // namespace
}  // namespace batchlight
