#include "analysis/ranks/nccl_calls.h"

#include <cstring>

#include "analysis/ranks/collective_names.h"
#include "analysis/ranks/nccl_groups.h"

namespace batchlight {
namespace {

// Numbers and texts of a range's payload, by the name of the field.
class Payloads {
 public:
  explicit Payloads(const Store& store) : store_(store) {
    const NvtxPayloadSchemasTable& schemas = store.nvtx_payload_schemas;
    for (size_t row = 0; row < schemas.size(); ++row) {
      schemas_[{schemas.process[row], schemas.schema_id[row]}] = row;
    }
  }

  std::optional<uint64_t> Find(ProcessId process, NvtxAttributesId id,
                               std::string_view field) const {
    const std::string_view bytes = PlaceOf(process, id, field);
    const size_t size = bytes.size() < 8 ? 4 : 8;
    if (bytes.size() < size) return {};
    uint64_t value = 0;
    std::memcpy(&value, bytes.data(), size);  // little-endian, as the recording is
    return value;
  }

  std::string_view FindText(ProcessId process, NvtxAttributesId id, std::string_view field) const {
    const std::string_view bytes = PlaceOf(process, id, field);
    return bytes.substr(0, bytes.find('\0'));
  }

 private:
  // Bytes of a field, up to the next one; empty: there is none.
  std::string_view PlaceOf(ProcessId process, NvtxAttributesId id, std::string_view field) const {
    if (id.IsNone()) return {};
    const NvtxAttributesTable& attributes = store_.nvtx_attributes;
    for (uint32_t i = 0; i < attributes.blob_count[id.row()]; ++i) {
      const size_t blob = attributes.blob_begin[id.row()] + i;
      if (blob >= store_.nvtx_payload_blobs.size()) break;
      const auto schema = schemas_.find({process, store_.nvtx_payload_blobs.schema_id[blob]});
      if (schema == schemas_.end()) continue;
      const std::string_view bytes = store_.Text(store_.nvtx_payload_blobs.bytes[blob]);
      const std::string_view place = PlaceIn(schema->second, bytes, field);
      if (!place.empty()) return place;
    }
    return {};
  }

  std::string_view PlaceIn(size_t schema, std::string_view bytes, std::string_view field) const {
    const NvtxPayloadSchemasTable& schemas = store_.nvtx_payload_schemas;
    const NvtxPayloadEntriesTable& entries = store_.nvtx_payload_entries;
    for (uint32_t i = 0; i < schemas.entry_count[schema]; ++i) {
      const size_t entry = schemas.entry_begin[schema] + i;
      if (entry >= entries.size() || !store_.Text(entries.name[entry]).starts_with(field)) continue;
      const uint64_t offset = entries.offset[entry];
      const uint64_t next = i + 1 < schemas.entry_count[schema] && entry + 1 < entries.size()
                                ? entries.offset[entry + 1]
                                : schemas.payload_bytes[schema];
      const uint64_t size = next > offset ? next - offset : 8;
      if (offset > bytes.size() || size > bytes.size() - offset) return {};
      return bytes.substr(offset, size);
    }
    return {};
  }

  const Store& store_;
  std::map<std::pair<ProcessId, uint64_t>, size_t> schemas_;
};

// The process's communicator, with what the range says of it.
void Describe(const Payloads& payloads, ProcessId process, NvtxAttributesId attributes,
              NcclCommunicator& communicator) {
  int64_t& rank = communicator.rank_of.try_emplace(process, -1).first->second;
  if (const auto ranks = payloads.Find(process, attributes, "No. of ranks")) {
    communicator.ranks = static_cast<uint32_t>(*ranks);
    if (const auto own = payloads.Find(process, attributes, "Rank")) {
      rank = static_cast<int32_t>(*own);
    }
  }
  if (!communicator.pytorch_name.empty()) return;
  communicator.pytorch_name = payloads.FindText(process, attributes, "Process Group Name");
  communicator.pytorch_ranks = payloads.FindText(process, attributes, "Process Group Ranks");
}

// NCCL's message size: what one rank gives, or, where the input is divided, one part of it.
uint64_t BytesOf(const NcclCall& call, uint32_t ranks) {
  const CollectiveType* type = CollectiveTypeOfPyTorch(call.pytorch_type);
  if (type == nullptr || !call.in_elements) return 0;
  const uint64_t parts = DividesInput(call.operation) && ranks > 0 ? ranks : 1;
  return *call.in_elements / parts * type->bytes;
}

// PyTorch's "all_to_allv": ranks give each other as much as there is.
bool HasPartsThatDiffer(std::string_view pytorch_name) {
  return pytorch_name == "all_to_allv" || pytorch_name == "alltoallv";
}

void SetPartsThatDiffer(NcclCall& call) {
  const CollectiveType* type = CollectiveTypeOfPyTorch(call.pytorch_type);
  if (type == nullptr) return;
  call.sent_bytes = call.in_elements.value_or(0) * type->bytes;
  call.received_bytes = call.out_elements.value_or(0) * type->bytes;
}

}  // namespace

NcclCalls FindNcclCalls(const Store& store) {
  NcclCalls found;
  const NvtxRangesTable& ranges = store.nvtx_ranges;
  const Payloads payloads(store);
  found.call_of_range.assign(ranges.size(), NcclCalls::kNone);
  NcclGroups groups(found);
  for (size_t row = 0; row < ranges.size(); ++row) {
    const NvtxAttributesId attributes = ranges.attributes[row];
    const std::string_view message = store.Text(ranges.message[row]);
    if (!message.starts_with("nccl")) continue;
    const ThreadId thread = ranges.thread[row];
    if (message == "ncclGroupStart") groups.Begin(thread);
    if (message == "ncclGroupEnd") groups.End(thread, static_cast<uint32_t>(row));
    if (message.starts_with("ncclGroup")) continue;
    const ProcessId process = store.ProcessOf(thread);
    NcclCall call{.range = static_cast<uint32_t>(row),
                  .process = process,
                  .launch = static_cast<uint32_t>(row),
                  .pytorch_name = payloads.FindText(process, attributes, "Collective name")};
    if (ranges.domain[row].IsNone() && call.pytorch_name.empty()) continue;
    const auto field = [&](std::string_view name) {
      return payloads.Find(process, attributes, name);
    };
    call.communicator = field("NCCL communicator ID").value_or(0);
    NcclCommunicator& communicator = found.communicators[call.communicator];
    Describe(payloads, process, attributes, communicator);
    call.operation = OperationOfNccl(message);
    if (call.operation.empty()) call.operation = OperationOfPyTorch(call.pytorch_name);
    if (call.operation.empty()) continue;
    call.bytes = field("Message size").value_or(0);
    call.pytorch_type = payloads.FindText(process, attributes, "dtype");
    if (!call.pytorch_type.empty()) {
      call.in_elements = field("In msg nelems");
      call.out_elements = field("Out msg nelems");
    }
    if (HasPartsThatDiffer(call.pytorch_name)) {
      SetPartsThatDiffer(call);
    } else if (call.bytes == 0) {
      call.bytes = BytesOf(call, communicator.ranks);
    }
    found.call_of_range[row] = static_cast<uint32_t>(found.calls.size());
    found.calls.push_back(call);
    const std::optional<uint64_t> peer = field("Peer rank");
    groups.Add(thread, peer ? static_cast<int32_t>(*peer) : -1);
  }
  return found;
}

}  // namespace batchlight
