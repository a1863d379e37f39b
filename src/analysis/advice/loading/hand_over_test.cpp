// Whether the loop waits for what its workers do, or for the way of a batch from one to the loop.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;

constexpr char kFetch[] = "/usr/lib/python3/dist-packages/torch/utils/data/_utils/fetch.py";
constexpr char kWorker[] = "/usr/lib/python3/dist-packages/torch/utils/data/_utils/worker.py";
constexpr char kLoader[] = "/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py";

// Steps of 20 ms that wait 5 ms for a batch of one worker; a second worker is validation's.
class WorkerLoop {
 public:
  // What making a batch takes the worker, of each step; `taking_ns`: of the wait, to take it over.
  // `goes_on`: the training iterator does, once validation in the middle of its epoch is over.
  Finding Find(int64_t making_ns, int64_t taking_ns = 5 * kMs, bool goes_on = false) {
    const ThreadId worker = Worker(2 * kMs);
    for (int i = 0; i < 100; ++i) Step(worker, making_ns, taking_ns);
    build_.Phase(main_, Phase::kDataLoaderInit, "DataLoader.__iter__", at_, at_ + 4 * kMs);
    Worker(at_ + 2 * kMs);
    at_ += 5 * kMs;
    if (goes_on) build_.Range(main_, "validation", at_ - 5 * kMs, at_ + 80 * kMs);
    for (int i = 0; i < 10; ++i, at_ += 8 * kMs) Next(at_, at_ + kMs);
    if (!goes_on) {
      build_.Phase(main_, Phase::kDataLoaderInit, "DataLoader.__iter__", at_, at_ + kMs / 10);
    }
    for (int i = 0; i < 150; ++i) Step(worker, making_ns, taking_ns);
    const Store store = build_.Build();
    const RunOverview run = BuildOverview(store);
    const Finding* found = FindRule(run.findings, "dataloader-wait");
    return found == nullptr ? Finding{.title = "none"} : *found;
  }

 private:
  PythonStackId Stack(const char* file, const char* function, PythonStackId parent = {}) {
    build_.store().python_frames.Append(
        {.file = build_.Text(file), .function = build_.Text(function), .first_line = 1, .line = 9});
    build_.store().python_stacks.Append(
        {.frame = PythonFrameId::At(build_.store().python_frames.size() - 1), .parent = parent});
    return PythonStackId::At(build_.store().python_stacks.size() - 1);
  }
  ThreadId Worker(int64_t start_ns) {
    const ProcessId worker = build_.Process(next_pid_++, "train.py");
    ProcessesTable& processes = build_.store().processes;
    processes.parent_pid[worker.row()] = 7;
    processes.parent[worker.row()] = ProcessId::At(0);
    processes.start_ns[worker.row()] = start_ns;
    processes.end_ns[worker.row()] = 9000 * kMs;
    const ThreadId thread = build_.Thread(worker);
    build_.store().threads.tid[thread.row()] = build_.store().processes.pid[worker.row()];
    return thread;
  }
  void Next(int64_t from_ns, int64_t to_ns) {
    build_.Phase(main_, Phase::kDataLoaderNext,
                 "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", from_ns, to_ns);
  }
  void Sample(ThreadId thread, PythonStackId stack, int64_t from_ns, int64_t ns) {
    if (ns <= 0) return;
    build_.store().python_samples.Append({.start_ns = from_ns,
                                          .end_ns = from_ns + ns,
                                          .thread = thread,
                                          .python_stack = stack,
                                          .samples = 1});
  }
  void Step(ThreadId worker, int64_t making_ns, int64_t taking_ns) {
    build_.Range(main_, "step", at_, at_ + 20 * kMs - 1000);
    Next(at_, at_ + 5 * kMs);
    Sample(main_, take_, at_ - 1000, taking_ns);
    Sample(main_, next_, at_ - 1000 + taking_ns, 5 * kMs - taking_ns);
    Sample(worker, fetch_, at_, making_ns);
    Sample(worker, idle_, at_ + making_ns, 20 * kMs - making_ns);
    build_.Operator(main_, "aten::mm", at_ + 6 * kMs, at_ + 19 * kMs);
    at_ += 20 * kMs;
  }

  StoreBuilder build_;
  ThreadId main_ = build_.Thread(build_.Process(7, "train.py"));
  uint32_t next_pid_ = 100;
  int64_t at_ = 10 * kMs;
  PythonStackId next_ = Stack(kLoader, "_BaseDataLoaderIter.__next__");
  PythonStackId take_ = Stack(kLoader, "_MultiProcessingDataLoaderIter._get_data", next_);
  PythonStackId idle_ = Stack(kWorker, "_worker_loop");
  PythonStackId fetch_ = Stack(kFetch, "_MapDatasetFetcher.fetch", idle_);
};

TEST(HandOver, CheapBatchesAreLoadedInTheTrainingProcess) {
  const Finding found = WorkerLoop().Find(kMs / 2);
  EXPECT_EQ(found.title, "Training waits for its worker's batches to be handed over");
  EXPECT_NE(found.seen.find("takes the worker 500 µs, taking it over 5.00 ms"), std::string::npos)
      << found.seen;
  EXPECT_EQ(found.why.find("deliver"), std::string::npos) << found.why;
  EXPECT_EQ(found.action.find("Load in the training process: DataLoader(..., num_workers=0)"), 0u)
      << found.action;
  EXPECT_NEAR(found.gain_ns, 0.85 * (5 - 0.5) * kMs, 0.1 * kMs);
}

TEST(HandOver, WhatIsNotTakingOverStays) {
  const Finding found = WorkerLoop().Find(kMs / 2, 2 * kMs);
  EXPECT_NEAR(found.gain_ns, 0.85 * (2 - 0.5) * kMs, 0.1 * kMs) << found.title;
}

TEST(HandOver, AWorkerWithMuchToDoIsSlow) {
  const Finding found = WorkerLoop().Find(18 * kMs);
  EXPECT_NE(found.why.find("more slowly than training uses them"), std::string::npos) << found.why;
}

TEST(HandOver, ValidationInAnEpochHasItsOwnWorker) {
  EXPECT_EQ(WorkerLoop().Find(kMs / 2, 5 * kMs, true).title,
            "Training waits for its worker's batches to be handed over");
}

}  // namespace
}  // namespace batchlight
