// Recordings taken on an H200 (PyTorch 2.11, CUPTI 13.0.1) must read the same without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "ingest/recording/recording.h"

namespace batchlight {
namespace {

Store Read(const std::string& name, const RecordedParts& parts = {}) {
  const std::string path =
      std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/recordings/h200_" + name + ".batchlight";
  Result<Store> store = ReadRecording(path, parts);
  EXPECT_TRUE(store.ok()) << store.status().message();
  return store.ok() ? std::move(store).value() : Store();
}

// Every kernel has its call, on a thread, and began after the call did.
void CheckTies(const Store& store) {
  ASSERT_GT(store.kernels.size(), 0u);
  int64_t earliest_ns = INT64_MAX;
  for (size_t row = 0; row < store.kernels.size(); ++row) {
    const ApiCallId call = store.kernels.api_call[row];
    ASSERT_FALSE(call.IsNone()) << row;
    EXPECT_FALSE(store.api_calls.thread[call.row()].IsNone());
    earliest_ns =
        std::min(earliest_ns, store.kernels.start_ns[row] - store.api_calls.start_ns[call.row()]);
    EXPECT_FALSE(store.Text(store.kernels.short_name[row]).empty());
  }
  EXPECT_GT(earliest_ns, 0) << "a kernel before its launch: the clocks are off";
  ASSERT_GE(store.gpus.size(), 1u);
  EXPECT_EQ(store.Text(store.gpus.name[0]), "NVIDIA H200");
  EXPECT_EQ(store.gpus.sm_count[0], 132u);
  EXPECT_LT(std::stol(std::string(store.Property("cuda.clock_error_ns"))), 20'000);
}

using Rows = std::map<std::string, size_t>;

// By table, of those that have any.
Rows RowsOf(const Store& store) {
  Rows rows;
  store.VisitTables([&](const auto& table) {
    if (table.size() > 0) rows[std::string(table.kName)] = table.size();
  });
  return rows;
}

TEST(H200Recordings, WhatNobodyAsksForTakesNoRowsAndChangesNothingElse) {
  for (const char* name : {"train", "two_ranks", "graph_node"}) {
    SCOPED_TRACE(name);
    const Store all = Read(name);
    const Store few = Read(name, {.calls = false, .ranges = false});
    Rows expected = RowsOf(all);
    const size_t skipped = std::erase_if(expected, [](const auto& table) {
      const std::string& of = table.first;
      return of == "operator_calls" || of == "module_calls" || of == "phase_calls" ||
             of.starts_with("nvtx_");
    });
    EXPECT_GE(skipped, 2u);
    EXPECT_EQ(RowsOf(few), expected);
    EXPECT_EQ(few.threads.start_ns, all.threads.start_ns);
    EXPECT_EQ(few.threads.end_ns, all.threads.end_ns);
    EXPECT_EQ(few.kernels.start_ns, all.kernels.start_ns);
    EXPECT_EQ(few.api_calls.thread, all.api_calls.thread);
  }
}

TEST(H200Recordings, Train) {
  const Store store = Read("train");
  CheckTies(store);
  EXPECT_GT(store.module_calls.size(), 0u);
  EXPECT_GT(store.memcpys.size(), 0u);
  EXPECT_GT(store.synchronizations.size(), 0u);
  EXPECT_EQ(store.Property("cuda.version"), "13.0");
}

TEST(H200Recordings, GraphNodesComeFromTheCapture) {
  const Store store = Read("graph_node");
  CheckTies(store);
  std::set<uint64_t> nodes(store.graph_nodes.graph_node.begin(),
                           store.graph_nodes.graph_node.end());
  size_t replayed = 0;
  for (const uint64_t node : store.kernels.graph_node) {
    if (node == 0) continue;
    ++replayed;
    EXPECT_TRUE(nodes.contains(node)) << node;
  }
  EXPECT_GT(replayed, 100u);
  EXPECT_EQ(replayed % 20, 0u) << "20 replays of one graph";
}

TEST(H200Recordings, Compile) {
  const Store store = Read("compile");
  CheckTies(store);
  const auto& names = store.kernels.short_name;
  EXPECT_TRUE(std::any_of(names.begin(), names.end(),
                          [&](StringId name) { return store.Text(name).starts_with("triton_"); }));
}

// Taken with --capture-range=cudaProfilerApi: CUPTI gave the thread that called cudaProfilerStart
// one correlation id for thousands of calls.
TEST(H200Recordings, WorkHasItsOwnCallAfterCudaProfilerStart) {
  for (const char* name : {"tuned_gpt2", "tuned_resnet50"}) {
    SCOPED_TRACE(name);
    const Store store = Read(name);
    CheckTies(store);
    std::set<size_t> launches;
    for (const ApiCallId call : store.kernels.api_call) {
      const std::string_view text = store.Text(store.api_calls.name[call.row()]);
      EXPECT_NE(text.find("Launch"), text.npos) << text;
      EXPECT_TRUE(launches.insert(call.row()).second);
    }
    std::set<uint32_t> ids(store.api_calls.correlation.begin(), store.api_calls.correlation.end());
    EXPECT_EQ(ids.size(), store.api_calls.size());
    for (size_t row = 0; row < store.memsets.size(); ++row) {
      const size_t call = store.memsets.api_call[row].row();
      EXPECT_EQ(store.Text(store.api_calls.name[call]), "cudaMemsetAsync_v3020");
    }
  }
}

TEST(H200Recordings, TwoRanksDoNotMix) {
  const Store store = Read("two_ranks");
  CheckTies(store);
  EXPECT_EQ(store.gpus.size(), 2u);
  std::map<ProcessId, std::map<std::string_view, size_t>> counts;
  for (size_t row = 0; row < store.kernels.size(); ++row) {
    const ApiCallId call = store.kernels.api_call[row];
    EXPECT_EQ(store.ProcessOf(store.api_calls.thread[call.row()]), store.kernels.process[row]);
    ++counts[store.kernels.process[row]][store.Text(store.kernels.short_name[row])];
  }
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts.begin()->second, counts.rbegin()->second) << "the ranks ran the same program";
  EXPECT_FALSE(store.strings.Find("NCCL").IsNone());
}

// cudaMalloc, cudaMallocHost, cudaMallocManaged and cudaMallocAsync of known sizes, each freed, and
// a cudaMalloc that is not; tensors from the stream's pool (backend:cudaMallocAsync).
TEST(H200Recordings, MemoryByDoorAndPool) {
  const Store store = Read("memory");
  const GpuMemoryEventsTable& events = store.gpu_memory_events;
  const auto count = [&](MemoryKind kind, uint64_t bytes, MemoryOperation operation) {
    size_t found = 0;
    for (size_t row = 0; row < events.size(); ++row) {
      found += events.memory_kind[row] == kind && events.bytes[row] == bytes &&
               events.operation[row] == operation;
    }
    return found;
  };
  for (const auto operation : {MemoryOperation::kAllocation, MemoryOperation::kRelease}) {
    EXPECT_EQ(count(MemoryKind::kDevice, 10u << 20, operation), 1u);
    EXPECT_EQ(count(MemoryKind::kDevice, 7u << 20, operation), 1u);
    EXPECT_EQ(count(MemoryKind::kPinned, 3u << 20, operation), 1u);
    EXPECT_EQ(count(MemoryKind::kManaged, 5u << 20, operation), 1u);
  }
  EXPECT_EQ(count(MemoryKind::kDevice, 2u << 20, MemoryOperation::kAllocation), 1u);
  EXPECT_EQ(count(MemoryKind::kDevice, 2u << 20, MemoryOperation::kRelease), 0u);
  const GpuMemoryPoolsTable& pools = store.gpu_memory_pools;
  ASSERT_GE(pools.size(), 2u);
  EXPECT_EQ(pools.operation[0], PoolOperation::kCreated);
  EXPECT_EQ(pools.bytes[0], 32u << 20);
  EXPECT_EQ(pools.operation[1], PoolOperation::kTrimmed);
  EXPECT_EQ(pools.used_bytes[1], 1'071'144u) << "the model";
}

}  // namespace
}  // namespace batchlight
