// NVTX_EVENTS of an nsys export: domains and categories first, then ranges and marks by start, and
// operators among them with --operators-as-nvtx.
#include <bit>

#include "export/sqlite/nsys_rows.h"
#include "nsys/nvtx_event_order.h"
#include "nsys/nvtx_tables.h"
#include "nsys/payload.h"

namespace batchlight {
namespace {

using nsys::EventType;
using nsys::NvtxEvent;
using Event = nsys::NvtxEventsRow;

int64_t NativeDomain(const Store& store, NvtxDomainId domain) {
  return domain.IsNone() ? 0 : store.nvtx_domains.native_id[domain.row()];
}

void SetPayload(const NvtxAttributesRow& attributes, Event& event) {
  const auto bits = static_cast<int64_t>(attributes.payload);
  switch (attributes.payload_type) {
    case NvtxPayloadType::kNone:
      break;
    case NvtxPayloadType::kUint64:
      event.uint64_value = bits;
      break;
    case NvtxPayloadType::kInt64:
      event.int64_value = bits;
      break;
    case NvtxPayloadType::kDouble:
      event.double_value = std::bit_cast<double>(attributes.payload);
      break;
    case NvtxPayloadType::kUint32:
      event.uint32_value = bits;
      break;
    case NvtxPayloadType::kInt32:
      event.int32_value = static_cast<int32_t>(attributes.payload);
      break;
    case NvtxPayloadType::kFloat:
      event.float_value = std::bit_cast<float>(static_cast<uint32_t>(attributes.payload));
      break;
  }
}

class NvtxRows {
 public:
  explicit NvtxRows(NsysWriter& writer) : writer_(writer), store_(writer.store) {}

  // Fills an empty row; false: the selection leaves it out. Texts are valid until the next row.
  bool Fill(const NvtxEvent& event, Event& row) {
    switch (event.kind) {
      case NvtxEvent::Kind::kDomain:
        FillDomain(store_.nvtx_domains.Row(event.row), row);
        return true;
      case NvtxEvent::Kind::kCategory:
        FillCategory(store_.nvtx_categories.Row(event.row), row);
        return true;
      case NvtxEvent::Kind::kRange:
        return FillRange(store_.nvtx_ranges.Row(event.row), row);
      case NvtxEvent::Kind::kMark:
        return FillMark(store_.nvtx_marks.Row(event.row), row);
      case NvtxEvent::Kind::kOperator:
        return FillOperator(event.row, row);
    }
    return false;
  }

 private:
  void FillDomain(const NvtxDomainsRow& domain, Event& row) const {
    row.type = EventType::kDomainCreate;
    row.text = store_.Text(domain.name);
    row.thread = writer_.GlobalPid(domain.process);
    row.domain = domain.native_id;
  }
  void FillCategory(const NvtxCategoriesRow& category, Event& row) const {
    row.type = EventType::kCategory;
    row.category = category.category;
    row.text = store_.Text(category.name);
    row.thread = writer_.GlobalPid(category.process);
    row.domain = NativeDomain(store_, category.domain);
  }
  bool FillRange(const NvtxRangesRow& range, Event& row) {
    if (!writer_.Selects(range.start_ns, range.end_ns)) return false;
    row.start_ns = range.start_ns;
    row.end_ns = range.end_ns;
    row.type =
        range.style == NvtxStyle::kPushPop ? EventType::kPushPopRange : EventType::kStartEndRange;
    row.thread = writer_.GlobalTid(range.thread);
    if (range.end_thread != range.thread) row.end_thread = writer_.GlobalTid(range.end_thread);
    row.domain = NativeDomain(store_, range.domain);
    SetMessage(range.message, range.registered, row);
    SetAttributes(range.attributes, row);
    return true;
  }
  bool FillMark(const NvtxMarksRow& mark, Event& row) {
    if (!writer_.Selects(mark.start_ns, mark.start_ns)) return false;
    row.start_ns = mark.start_ns;
    row.type = EventType::kMark;
    row.thread = writer_.GlobalTid(mark.thread);
    row.domain = NativeDomain(store_, mark.domain);
    SetMessage(mark.message, mark.registered, row);
    SetAttributes(mark.attributes, row);
    return true;
  }

  // As torch.autograd.profiler.emit_nvtx names them (getNvtxStr of profiler/util.cpp):
  // aten::addmm, seq = 11, op_id = 401, sizes = [[64, 2, 768], []]
  bool FillOperator(uint32_t index, Event& row) {
    const OperatorCallsRow call = store_.operator_calls.Row(index);
    if (!writer_.Selects(call.start_ns, call.end_ns)) return false;
    row.start_ns = call.start_ns;
    row.end_ns = call.end_ns;
    row.type = EventType::kPushPopRange;
    row.thread = writer_.GlobalTid(call.thread);
    text_ = store_.Text(call.name);
    if (call.sequence >= 0) text_ += ", seq = " + std::to_string(call.sequence);
    text_ += ", op_id = " + std::to_string(index + 1);
    if (!call.shapes.IsNone()) text_.append(", sizes = ").append(store_.Text(call.shapes));
    row.text = text_;
    return true;
  }

  void SetMessage(StringId message, YesNo registered, Event& event) {
    if (message.IsNone()) return;
    if (IsYes(registered)) {
      event.text_id = writer_.String(message);
    } else {
      event.text = store_.Text(message);
    }
  }
  void SetAttributes(NvtxAttributesId id, Event& event) {
    if (id.IsNone()) return;
    const NvtxAttributesRow attributes = store_.nvtx_attributes.Row(id.row());
    if (attributes.category != 0) event.category = attributes.category;
    if (IsYes(attributes.has_color)) event.color = attributes.color;
    SetPayload(attributes, event);
    event.payloads = Payloads(attributes);
  }
  std::string_view Payloads(const NvtxAttributesRow& attributes) {
    const NvtxPayloadBlobsTable& blobs = store_.nvtx_payload_blobs;
    std::vector<nsys::Payload> payloads;
    for (uint32_t i = 0; i < attributes.blob_count; ++i) {
      const size_t blob = attributes.blob_begin + size_t{i};
      if (blob >= blobs.size()) break;
      payloads.push_back({blobs.schema_id[blob], store_.Text(blobs.bytes[blob])});
    }
    if (payloads.empty()) return {};
    // Payloads of another form were kept as they are.
    if (payloads.size() == 1 && payloads[0].schema_id == 0) return payloads[0].bytes;
    packed_ = nsys::PackPayloads(payloads);
    return packed_;
  }

  NsysWriter& writer_;
  const Store& store_;
  std::string packed_;
  std::string text_;
};

Status WritePayloadSchemas(NsysWriter& writer) {
  const Store& store = writer.store;
  const NvtxPayloadSchemasTable& schemas = store.nvtx_payload_schemas;
  const auto prepare = [&](const NvtxPayloadSchemasRow& row, nsys::PayloadSchemaKey& key) {
    key.domain = NativeDomain(store, row.domain);
    return true;
  };
  RETURN_IF_ERROR(WriteRows<nsys::PayloadSchemaKey>(writer, nsys::kPayloadSchemas, schemas,
                                                    InOrder(schemas), prepare));
  const NvtxPayloadEntriesTable& entries = store.nvtx_payload_entries;
  return writer.Table(nsys::kPayloadEntries, entries.size(), [&](SqliteInsert& insert) {
    for (size_t row = 0; row < schemas.size(); ++row) {
      const int64_t domain = NativeDomain(store, schemas.domain[row]);
      for (uint32_t i = 0; i < schemas.entry_count[row]; ++i) {
        const size_t place = schemas.entry_begin[row] + size_t{i};
        if (place >= entries.size()) break;
        const nsys::PayloadSchemaKey key{domain, schemas.schema_id[row], i};
        PutRow(writer, insert, nsys::kPayloadEntries, place, entries.Row(place), key);
      }
    }
  });
}

}  // namespace

Status WriteNvtxTables(NsysWriter& writer) {
  const std::vector<NvtxEvent> events =
      nsys::NvtxEventOrder(writer.store, writer.options.operators_as_ranges);
  RETURN_IF_ERROR(writer.Table(nsys::kNvtxEvents, events.size(), [&](SqliteInsert& insert) {
    NvtxRows rows(writer);
    for (size_t i = 0; i < events.size(); ++i) {
      Event row;
      if (!rows.Fill(events[i], row)) continue;
      row.id = static_cast<int64_t>(i) + 1;
      PutRow(writer, insert, nsys::kNvtxEvents, i, row);
    }
  }));
  return WritePayloadSchemas(writer);
}

}  // namespace batchlight
