#include "analysis/testing/nccl_store.h"

#include <cstring>

namespace batchlight::testing {
namespace {

constexpr int64_t kCallNs = 100;
constexpr uint64_t kCallSchema = 5;
constexpr uint64_t kInitSchema = 6;
constexpr const char* kFields[] = {"NCCL communicator ID", "Message size [bytes]", "Peer rank",
                                   "NCCL communicator ID", "No. of ranks",         "Rank"};

// Three fields of eight bytes; of the third, a number of four, the rest is padding.
std::string Payload(uint64_t first, uint64_t second, int32_t third) {
  std::string bytes(24, '\x5a');
  std::memcpy(bytes.data(), &first, 8);
  std::memcpy(bytes.data() + 8, &second, 8);
  std::memcpy(bytes.data() + 16, &third, 4);
  return bytes;
}

}  // namespace

ThreadId NcclStore::Rank(int32_t rank, uint64_t communicator, uint32_t ranks) {
  const ProcessId process = build_.Process(100 + static_cast<uint32_t>(rank), "train.py", rank);
  Store& store = build_.store();
  store.nvtx_domains.Append({.process = process, .name = build_.Text("NCCL"), .native_id = 1});
  for (const uint64_t schema : {kCallSchema, kInitSchema}) {
    store.nvtx_payload_schemas.Append(
        {.process = process,
         .domain = NvtxDomainId{process.value},
         .schema_id = schema,
         .payload_bytes = 24,
         .entry_begin = static_cast<uint32_t>(store.nvtx_payload_entries.size()),
         .entry_count = 3});
    for (uint64_t field = 0; field < 3; ++field) {
      store.nvtx_payload_entries.Append(
          {.name = build_.Text(kFields[field + (schema == kInitSchema ? 3 : 0)]),
           .offset = 8 * field});
    }
  }
  const ThreadId thread = build_.Thread(process);
  now_ns_[thread.value] = 1000;
  Call(thread, "ncclCommInitRank", "i" + Payload(communicator, ranks, rank));
  step_ns_[thread.value] = now_ns_[thread.value];
  return thread;
}

void NcclStore::Call(ThreadId thread, const std::string& name, const std::string& payload) {
  int64_t& now_ns = now_ns_[thread.value];
  build_.Range(thread, name, now_ns, now_ns + kCallNs);
  payloads_[{thread.value, now_ns}] = payload;
  now_ns += 2 * kCallNs;
}

void NcclStore::Group(ThreadId thread, const std::vector<NcclStoreCall>& calls, int64_t kernel_ns,
                      int64_t idle_ns) {
  now_ns_[thread.value] += idle_ns;
  Call(thread, "ncclGroupStart", "");
  for (const NcclStoreCall& call : calls) {
    Call(thread, "nccl" + call.operation, "c" + Payload(call.communicator, call.bytes, call.peer));
  }
  const int64_t end_ns = now_ns_[thread.value];
  Call(thread, "ncclGroupEnd", "");
  build_.Kernel(thread, "ncclDevKernel_SendRecv", end_ns + 10, end_ns + 20,
                end_ns + 20 + kernel_ns);
  now_ns_[thread.value] = end_ns + 100 + kernel_ns;
}

void NcclStore::Compute(ThreadId thread, int64_t ns) {
  int64_t& now_ns = now_ns_[thread.value];
  build_.Kernel(thread, "nvjet_hsh_128", now_ns + 10, now_ns + 20, now_ns + 20 + ns);
  now_ns += 100 + ns;
}

void NcclStore::Step(ThreadId thread) {
  int64_t& begin_ns = step_ns_[thread.value];
  build_.Range(thread, "step", begin_ns, now_ns_[thread.value]);
  now_ns_[thread.value] += 10;
  begin_ns = now_ns_[thread.value];
}

Store NcclStore::Build() {
  Store store = build_.Build();
  NvtxRangesTable& ranges = store.nvtx_ranges;
  for (size_t row = 0; row < ranges.size(); ++row) {
    if (!store.Text(ranges.message[row]).starts_with("nccl")) continue;
    ranges.domain[row] = NvtxDomainId{store.ProcessOf(ranges.thread[row]).value};
    const std::string& payload = payloads_.at({ranges.thread[row].value, ranges.start_ns[row]});
    if (payload.empty()) continue;
    ranges.attributes[row] = NvtxAttributesId::At(store.nvtx_attributes.size());
    store.nvtx_attributes.Append(
        {.blob_begin = static_cast<uint32_t>(store.nvtx_payload_blobs.size()), .blob_count = 1});
    store.nvtx_payload_blobs.Append({.schema_id = payload[0] == 'i' ? kInitSchema : kCallSchema,
                                     .bytes = store.strings.Intern(payload.substr(1)),
                                     .full_byte_count = 24});
  }
  return store;
}

}  // namespace batchlight::testing
