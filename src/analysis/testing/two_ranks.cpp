#include "analysis/testing/two_ranks.h"

#include <cstring>
#include <string>

#include "analysis/testing/store_builder.h"

namespace batchlight::testing {
namespace {

constexpr uint64_t kSchema = 5;

class TwoRanks {
 public:
  TwoRanks() {
    Store& store = build_.store();
    for (uint32_t rank = 0; rank < 2; ++rank) {
      const ProcessId process = build_.Process(100 + rank, "ddp.py", int32_t(rank));
      threads_[rank] = build_.Thread(process);
      store.nvtx_domains.Append({.process = process, .name = build_.Text("NCCL"), .native_id = 1});
      store.nvtx_payload_schemas.Append({.process = process,
                                         .domain = NvtxDomainId{rank},
                                         .schema_id = kSchema,
                                         .payload_bytes = 16,
                                         .entry_begin = rank * 2,
                                         .entry_count = 2});
      store.nvtx_payload_entries.Append({.name = build_.Text("NCCL communicator ID")});
      store.nvtx_payload_entries.Append({.name = build_.Text("Message size [bytes]"), .offset = 8});
    }
  }

  Store Build(int steps) {
    for (int step = 0; step < steps; ++step) {
      const int64_t at = step * 2'000'000;
      for (uint32_t rank = 0; rank < 2; ++rank) {
        const int64_t waits = rank == 0 ? 300'000 : 0;
        build_.Range(threads_[rank], "step " + std::to_string(step), at, at + 1'900'000);
        build_.Kernel(threads_[rank], "gemm", at + 1000, at + 2000, at + 500'000);
        AllReduce(rank, at + 600'000, 1'000'000);
        const int64_t start = at + 1'000'000 - waits;
        build_.Kernel(threads_[rank], "ncclDevKernel_AllReduce_Sum_f32", at + 600'010, start,
                      at + 1'100'000);
      }
    }
    Store store = build_.Build();
    for (size_t row = 0; row < store.nvtx_ranges.size(); ++row) {
      if (store.Text(store.nvtx_ranges.message[row]) != "ncclAllReduce") continue;
      const ProcessId process = store.ProcessOf(store.nvtx_ranges.thread[row]);
      store.nvtx_ranges.domain[row] = NvtxDomainId{process.value};
      store.nvtx_ranges.attributes[row] = NvtxAttributesId{0};
    }
    for (size_t row = 0; row < store.kernels.size(); ++row) {
      store.kernels.short_name[row] = store.kernels.demangled_name[row];
    }
    return store;
  }

 private:
  void AllReduce(uint32_t rank, int64_t at, uint64_t bytes) {
    build_.Range(threads_[rank], "ncclAllReduce", at, at + 1000);
    Store& store = build_.store();
    if (store.nvtx_attributes.size() > 0) return;
    std::string blob(16, '\0');
    const uint64_t communicator = 77;
    std::memcpy(blob.data(), &communicator, 8);
    std::memcpy(blob.data() + 8, &bytes, 8);
    store.nvtx_attributes.Append({.blob_begin = 0, .blob_count = 1});
    store.nvtx_payload_blobs.Append(
        {.schema_id = kSchema, .bytes = build_.Text(blob), .full_byte_count = 16});
  }

  StoreBuilder build_;
  ThreadId threads_[2];
};

}  // namespace

Store MakeTwoRanks(int steps) { return TwoRanks().Build(steps); }

}  // namespace batchlight::testing
