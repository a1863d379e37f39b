#include "store/merge_stores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "store/finish.h"
#include "store/reason_features.h"

namespace batchlight {
namespace {

// One process of a host with one GPU: a range that holds an operator, and the kernel it launched.
Store MakeInput(const std::string& host, uint32_t pid, const std::string& uuid, int64_t start_ns) {
  Store store;
  const auto text = [&](std::string_view words) { return store.strings.Intern(words); };
  text("a string that the other inputs lack: " + host);
  store.processes.Append(
      {.pid = pid, .name = text("train.py"), .start_ns = start_ns, .end_ns = kOpenEnd});
  store.threads.Append({.process = ProcessId::At(0), .tid = pid, .start_ns = start_ns});
  const ThreadId thread = ThreadId::At(0);
  store.properties.Append({{}, text("machine.hostname"), text(host)});
  store.properties.Append({{}, text("torch.version"), text("2.11")});
  store.properties.Append({{}, text("session.command"), text("profile -o " + host)});
  store.reasons.Append({{}, text(kInputFeature), text("it is cut")});
  store.gpus.Append({.device = 0, .name = text("H200"), .uuid = text(uuid)});
  store.nvtx_payload_blobs.Append({.schema_id = 1, .bytes = text("bytes of " + host)});
  store.nvtx_attributes.Append({.blob_begin = 0, .blob_count = 1});
  store.nvtx_ranges.Append({.start_ns = start_ns + 10,
                            .end_ns = start_ns + 90,
                            .thread = thread,
                            .end_thread = thread,
                            .message = text("step of " + host),
                            .attributes = NvtxAttributesId::At(0)});
  store.operator_calls.Append({.start_ns = start_ns + 20,
                               .end_ns = start_ns + 40,
                               .thread = thread,
                               .name = text("aten::mm")});
  store.operator_calls.Append({.start_ns = start_ns + 25,
                               .end_ns = start_ns + 30,
                               .thread = thread,
                               .name = text("aten::copy_")});
  store.api_calls.Append({.start_ns = start_ns + 26,
                          .end_ns = start_ns + 27,
                          .thread = thread,
                          .name = text("cudaLaunchKernel"),
                          .correlation = 5});
  store.kernels.Append({.start_ns = start_ns + 50,
                        .end_ns = start_ns + 60,
                        .process = ProcessId::At(0),
                        .correlation = 5,
                        .device = 0,
                        .short_name = text("gemm of " + host)});
  store.duration_ns = start_ns + 100;
  store.source_format = "batchlight";
  FinishStore(store);
  return store;
}

Store MergeTwo(TimeShift second) {
  std::vector<MergeInput> inputs;
  inputs.push_back({MakeInput("a", 7, "GPU-1", 1000), {}, "a.batchlight"});
  inputs.push_back({MakeInput("b", 7, "GPU-2", 0), second, "b.batchlight"});
  Result<Store> merged = MergeStores(std::move(inputs));
  EXPECT_TRUE(merged.ok());
  return std::move(merged.value());
}

TEST(MergeStores, RowsKeepWhatTheyPointAt) {
  const Store store = MergeTwo({.offset_ns = 500});
  ASSERT_EQ(store.processes.size(), 2u);  // by start: b began at 500
  EXPECT_EQ(store.processes.start_ns, (std::vector<int64_t>{500, 1000}));
  ASSERT_EQ(store.nvtx_ranges.size(), 2u);
  for (size_t row = 0; row < 2; ++row) {
    const std::string host = row == 0 ? "b" : "a";
    EXPECT_EQ(store.Text(store.nvtx_ranges.message[row]), "step of " + host);
    EXPECT_EQ(store.ProcessOf(store.nvtx_ranges.thread[row]), ProcessId::At(row));
    const size_t attributes = store.nvtx_ranges.attributes[row].row();
    const size_t blob = store.nvtx_attributes.blob_begin[attributes];
    EXPECT_EQ(store.Text(store.nvtx_payload_blobs.bytes[blob]), "bytes of " + host);
    EXPECT_EQ(store.Text(store.kernels.short_name[row]), "gemm of " + host);
    EXPECT_EQ(store.kernels.api_call[row], ApiCallId::At(row));
    EXPECT_EQ(store.operator_calls.parent[2 * row + 1], OperatorCallId::At(2 * row));
    EXPECT_EQ(store.Property("machine.hostname", ProcessId::At(row)), host);
  }
  EXPECT_EQ(store.nvtx_ranges.start_ns, (std::vector<int64_t>{510, 1010}));
  EXPECT_EQ(store.duration_ns, 1100);
}

TEST(MergeStores, GpusOfHostsAreToldApart) {
  const Store store = MergeTwo({});
  EXPECT_EQ(store.gpus.device, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(store.kernels.device, (std::vector<uint32_t>{1, 0}));  // that of b is earlier
  std::vector<MergeInput> same;
  same.push_back({MakeInput("a", 7, "GPU-1", 0), {}, "a"});
  same.push_back({MakeInput("a", 8, "GPU-1", 0), {}, "b"});
  const Result<Store> one = MergeStores(std::move(same));
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one.value().gpus.size(), 1u);
  EXPECT_EQ(one.value().kernels.device, (std::vector<uint32_t>{0, 0}));
}

// A trace of a tool that names no host: the GPUs of the machine, of which one did something.
Store RankOfUnknownHost(uint32_t pid, uint32_t used) {
  Store store = MakeInput("", pid, "", 0);
  store.gpus.Append({.device = 1, .name = store.gpus.name[0], .uuid = store.gpus.uuid[0]});
  store.kernels.device[0] = used;
  return store;
}

// Ranks of one machine use GPUs of their own; a GPU that two of them use is of two machines.
TEST(MergeStores, GpusOfHostsWithoutANameAreThoseThatNoOtherRankUsed) {
  std::vector<MergeInput> inputs;
  for (uint32_t rank = 0; rank < 4; ++rank)
    inputs.push_back({RankOfUnknownHost(rank, rank % 2), {}, "rank" + std::to_string(rank)});
  const Result<Store> merged = MergeStores(std::move(inputs));
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged.value().gpus.device, (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(merged.value().kernels.device, (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(MergeStores, FactsStayWhereInputsAgree) {
  const Store store = MergeTwo({});
  EXPECT_EQ(store.Property("torch.version"), "2.11");
  EXPECT_EQ(store.Property("session.command"), "profile -o a");
  const auto& process = store.properties.process;
  EXPECT_EQ(std::count(process.begin(), process.end(), ProcessId::None()), 2);
}

TEST(MergeStores, WhatReadingLostNamesItsFile) {
  const Store store = MergeTwo({});
  ASSERT_EQ(store.reasons.size(), 2u);
  EXPECT_EQ(store.Text(store.reasons.text[0]), "a.batchlight: it is cut");
  EXPECT_EQ(store.Text(store.reasons.text[1]), "b.batchlight: it is cut");
}

TEST(TimeShift, KeepsWhatIsNoTime) {
  const TimeShift shift{.offset_ns = 10, .drift = 1e-3, .pivot_ns = 1000};
  EXPECT_EQ(shift.Of(1000), 1010);
  EXPECT_EQ(shift.Of(3000), 3012);
  EXPECT_EQ(shift.Of(kOpenEnd), kOpenEnd);
  EXPECT_EQ(shift.Of(INT64_MIN), INT64_MIN);
  EXPECT_EQ(shift.Of(kOpenEnd - 1), kOpenEnd - 1);
}

}  // namespace
}  // namespace batchlight
