#include "analysis/testing/nccl_ranks.h"

#include <cstring>
#include <string>

namespace batchlight::testing {
namespace {

constexpr uint64_t kSchema = 5;
constexpr uint64_t kCommunicator = 77;
constexpr uint64_t kMessageBytes = 1'000'000;

}  // namespace

void NcclMessage(StoreBuilder& build) {
  std::string blob(16, '\0');
  std::memcpy(blob.data(), &kCommunicator, 8);
  std::memcpy(blob.data() + 8, &kMessageBytes, 8);
  build.store().nvtx_attributes.Append({.blob_begin = 0, .blob_count = 1});
  build.store().nvtx_payload_blobs.Append(
      {.schema_id = kSchema, .bytes = build.Text(blob), .full_byte_count = 16});
}

void NcclDomain(StoreBuilder& build, ProcessId process) {
  Store& store = build.store();
  store.nvtx_domains.Append({.process = process, .name = build.Text("NCCL"), .native_id = 1});
  store.nvtx_payload_schemas.Append({.process = process,
                                     .domain = NvtxDomainId{process.value},
                                     .schema_id = kSchema,
                                     .payload_bytes = 16,
                                     .entry_begin = process.value * 2,
                                     .entry_count = 2});
  store.nvtx_payload_entries.Append({.name = build.Text("NCCL communicator ID")});
  store.nvtx_payload_entries.Append({.name = build.Text("Message size [bytes]"), .offset = 8});
}

void NcclAllReduce(StoreBuilder& build, ThreadId thread, int64_t call_ns, int64_t start_ns,
                   int64_t end_ns) {
  build.Range(thread, "ncclAllReduce", call_ns, call_ns + 1000);
  build.Kernel(thread, "ncclDevKernel_AllReduce_Sum_f32", call_ns + 10, start_ns, end_ns);
}

void NcclFinish(Store& store) {
  for (size_t row = 0; row < store.nvtx_ranges.size(); ++row) {
    if (!store.Text(store.nvtx_ranges.message[row]).starts_with("nccl")) continue;
    const ProcessId process = store.ProcessOf(store.nvtx_ranges.thread[row]);
    store.nvtx_ranges.domain[row] = NvtxDomainId{process.value};
    store.nvtx_ranges.attributes[row] = NvtxAttributesId{0};
  }
  for (size_t row = 0; row < store.kernels.size(); ++row) {
    store.kernels.short_name[row] = store.kernels.demangled_name[row];
  }
}

NcclRanks::NcclRanks(size_t ranks) {
  NcclMessage(build_);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const ProcessId process = build_.Process(100 + rank, "ddp.py", int32_t(rank));
    threads_.push_back(build_.Thread(process));
    NcclDomain(build_, process);
  }
}

void NcclRanks::AllReduce(size_t rank, int64_t call_ns, int64_t start_ns, int64_t end_ns) {
  NcclAllReduce(build_, threads_[rank], call_ns, start_ns, end_ns);
}

Store NcclRanks::Build() {
  Store store = build_.Build();
  NcclFinish(store);
  return store;
}

}  // namespace batchlight::testing
