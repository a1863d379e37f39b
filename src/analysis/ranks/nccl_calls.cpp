#include "analysis/ranks/nccl_calls.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace batchlight {
namespace {

constexpr std::string_view kOperations[] = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast",
                                            "Bcast",     "Reduce",    "AlltoAll",      "AllToAll",
                                            "Gather",    "Scatter",   "Send",          "Recv"};

// "ncclAllReduce" -> "AllReduce"; "" for calls that move no data.
std::string_view OperationOf(std::string_view message) {
  if (!message.starts_with("nccl")) return {};
  message.remove_prefix(4);
  const auto found = std::find(std::begin(kOperations), std::end(kOperations), message);
  return found == std::end(kOperations) ? std::string_view{} : *found;
}

// Numbers of a range's payload, by the name of the field.
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
    if (id.IsNone()) return {};
    const NvtxAttributesTable& attributes = store_.nvtx_attributes;
    for (uint32_t i = 0; i < attributes.blob_count[id.row()]; ++i) {
      const size_t blob = attributes.blob_begin[id.row()] + i;
      if (blob >= store_.nvtx_payload_blobs.size()) break;
      const auto schema = schemas_.find({process, store_.nvtx_payload_blobs.schema_id[blob]});
      if (schema == schemas_.end()) continue;
      const std::string_view bytes = store_.Text(store_.nvtx_payload_blobs.bytes[blob]);
      if (const auto value = Field(schema->second, bytes, field)) return value;
    }
    return {};
  }

 private:
  std::optional<uint64_t> Field(size_t schema, std::string_view bytes,
                                std::string_view field) const {
    const NvtxPayloadSchemasTable& schemas = store_.nvtx_payload_schemas;
    const NvtxPayloadEntriesTable& entries = store_.nvtx_payload_entries;
    for (uint32_t i = 0; i < schemas.entry_count[schema]; ++i) {
      const size_t entry = schemas.entry_begin[schema] + i;
      if (entry >= entries.size() || !store_.Text(entries.name[entry]).starts_with(field)) continue;
      const uint64_t offset = entries.offset[entry];
      const uint64_t next = i + 1 < schemas.entry_count[schema] && entry + 1 < entries.size()
                                ? entries.offset[entry + 1]
                                : schemas.payload_bytes[schema];
      const size_t size = next > offset && next - offset < 8 ? 4 : 8;
      if (offset + size > bytes.size()) return {};
      uint64_t value = 0;
      std::memcpy(&value, bytes.data() + offset, size);  // little-endian, as the recording is
      return value;
    }
    return {};
  }

  const Store& store_;
  std::map<std::pair<ProcessId, uint64_t>, size_t> schemas_;
};

}  // namespace

NcclCalls FindNcclCalls(const Store& store) {
  NcclCalls found;
  const NvtxRangesTable& ranges = store.nvtx_ranges;
  const Payloads payloads(store);
  found.call_of_range.assign(ranges.size(), NcclCalls::kNone);
  for (size_t row = 0; row < ranges.size(); ++row) {
    if (ranges.domain[row].IsNone()) continue;
    const std::string_view message = store.Text(ranges.message[row]);
    if (!message.starts_with("nccl")) continue;
    const ProcessId process = store.ProcessOf(ranges.thread[row]);
    const auto field = [&](std::string_view name) {
      return payloads.Find(process, ranges.attributes[row], name);
    };
    const uint64_t id = field("NCCL communicator ID").value_or(0);
    NcclCommunicator& communicator = found.communicators[id];
    int64_t& rank = communicator.rank_of.try_emplace(process, -1).first->second;
    if (const auto ranks = field("No. of ranks")) {
      communicator.ranks = static_cast<uint32_t>(*ranks);
      if (const auto own = field("Rank")) rank = static_cast<int64_t>(*own);
    }
    const std::string_view operation = OperationOf(message);
    if (operation.empty()) continue;
    found.call_of_range[row] = static_cast<uint32_t>(found.calls.size());
    found.calls.push_back({.range = static_cast<uint32_t>(row),
                           .process = process,
                           .communicator = id,
                           .operation = operation,
                           .bytes = field("Message size").value_or(0)});
  }
  return found;
}

}  // namespace batchlight
