// NVTX_EVENTS of an nsys export: domains and categories first, then ranges and marks by start.
#include <bit>

#include "analysis/stats/nvtx_event_order.h"
#include "export/nsys_writer.h"
#include "store/nsys_payloads.h"

namespace batchlight {
namespace {

constexpr int64_t kCategoryType = 33;
constexpr int64_t kMarkType = 34;
constexpr int64_t kPushPopType = 59;
constexpr int64_t kStartEndType = 60;
constexpr int64_t kDomainCreateType = 75;

class NvtxRows {
 public:
  NvtxRows(NsysWriter& writer, SqliteInsert& insert)
      : writer_(writer), store_(writer.store), insert_(insert) {}

  void Write(const NvtxEvent& event, int64_t id) {
    switch (event.kind) {
      case NvtxEvent::Kind::kDomain:
        WriteDomain(event.row);
        break;
      case NvtxEvent::Kind::kCategory:
        WriteCategory(event.row);
        break;
      case NvtxEvent::Kind::kRange: {
        const NvtxRangesRow range = store_.nvtx_ranges.Row(event.row);
        if (!writer_.Selects(range.start_ns, range.end_ns)) return;
        WriteRange(range);
        break;
      }
      case NvtxEvent::Kind::kMark: {
        const NvtxMarksRow mark = store_.nvtx_marks.Row(event.row);
        if (!writer_.Selects(mark.start_ns, mark.start_ns)) return;
        WriteMark(mark);
        break;
      }
    }
    insert_.Int(id);
    insert_.Done();
  }

 private:
  // start end eventType rangeId category color
  void Head(int64_t start, int64_t end, int64_t type, NvtxAttributesId id) {
    insert_.Int(writer_.Time(start)).IntOrNull(end != kOpenEnd, writer_.Time(end)).Int(type);
    insert_.Null();
    const bool known = !id.IsNone();
    const NvtxAttributesRow attributes =
        known ? store_.nvtx_attributes.Row(id.row()) : NvtxAttributesRow{};
    insert_.IntOrNull(attributes.category != 0, attributes.category)
        .IntOrNull(IsYes(attributes.has_color), attributes.color);
  }
  // text globalTid endGlobalTid textId domainId
  void Words(StringId message, bool registered, ThreadId thread, ThreadId end_thread,
             NvtxDomainId domain) {
    if (registered || message.IsNone()) {
      insert_.Null();
    } else {
      insert_.Text(store_.Text(message));
    }
    insert_.Int(writer_.GlobalTid(thread))
        .IntOrNull(end_thread != thread, writer_.GlobalTid(end_thread))
        .IntOrNull(registered && !message.IsNone(),
                   registered && !message.IsNone() ? writer_.String(message) : 0)
        .Int(Native(domain));
  }
  // uint64Value int64Value doubleValue uint32Value int32Value floatValue binaryData
  void Payload(NvtxAttributesId id) {
    const NvtxAttributesRow attributes =
        id.IsNone() ? NvtxAttributesRow{} : store_.nvtx_attributes.Row(id.row());
    for (const NvtxPayloadType type :
         {NvtxPayloadType::kUint64, NvtxPayloadType::kInt64, NvtxPayloadType::kDouble,
          NvtxPayloadType::kUint32, NvtxPayloadType::kInt32, NvtxPayloadType::kFloat}) {
      if (type != attributes.payload_type) {
        insert_.Null();
      } else if (type == NvtxPayloadType::kDouble) {
        insert_.Real(std::bit_cast<double>(attributes.payload));
      } else if (type == NvtxPayloadType::kFloat) {
        insert_.Real(std::bit_cast<float>(static_cast<uint32_t>(attributes.payload)));
      } else if (type == NvtxPayloadType::kInt32) {
        insert_.Int(static_cast<int32_t>(attributes.payload));
      } else {
        insert_.U64(attributes.payload);
      }
    }
    Blobs(attributes);
  }
  void Blobs(const NvtxAttributesRow& attributes) {
    const NvtxPayloadBlobsTable& blobs = store_.nvtx_payload_blobs;
    std::vector<NsysPayload> payloads;
    for (uint32_t i = 0; i < attributes.blob_count; ++i) {
      const size_t blob = attributes.blob_begin + size_t{i};
      if (blob >= blobs.size()) break;
      payloads.push_back({blobs.schema_id[blob], store_.Text(blobs.bytes[blob])});
    }
    if (payloads.empty()) {
      insert_.Null();
    } else if (payloads.size() == 1 && payloads[0].schema_id == 0) {  // read from another form
      insert_.Blob(payloads[0].bytes);
    } else {
      packed_ = PackNsysPayloads(payloads);
      insert_.Blob(packed_);
    }
  }
  int64_t Native(NvtxDomainId domain) const {
    return domain.IsNone() ? 0 : store_.nvtx_domains.native_id[domain.row()];
  }

  void WriteDomain(size_t row) {
    Head(0, kOpenEnd, kDomainCreateType, NvtxAttributesId::None());
    insert_.Text(store_.Text(store_.nvtx_domains.name[row]))
        .Int(writer_.GlobalPid(store_.nvtx_domains.process[row]))
        .Null()
        .Null()
        .Int(store_.nvtx_domains.native_id[row]);
    Payload(NvtxAttributesId::None());
  }
  void WriteCategory(size_t row) {
    insert_.Int(writer_.Time(0)).Null().Int(kCategoryType).Null();
    insert_.Int(store_.nvtx_categories.category[row]).Null();
    insert_.Text(store_.Text(store_.nvtx_categories.name[row]))
        .Int(writer_.GlobalPid(store_.nvtx_categories.process[row]))
        .Null()
        .Null()
        .Int(Native(store_.nvtx_categories.domain[row]));
    Payload(NvtxAttributesId::None());
  }
  void WriteRange(const NvtxRangesRow& range) {
    const bool push_pop = range.style == NvtxStyle::kPushPop;
    Head(range.start_ns, range.end_ns, push_pop ? kPushPopType : kStartEndType, range.attributes);
    Words(range.message, IsYes(range.registered), range.thread, range.end_thread, range.domain);
    Payload(range.attributes);
  }
  void WriteMark(const NvtxMarksRow& mark) {
    Head(mark.start_ns, kOpenEnd, kMarkType, mark.attributes);
    Words(mark.message, IsYes(mark.registered), mark.thread, mark.thread, mark.domain);
    Payload(mark.attributes);
  }

  NsysWriter& writer_;
  const Store& store_;
  SqliteInsert& insert_;
  std::string packed_;  // until the row is written
};

int64_t NativeDomain(const Store& store, NvtxDomainId domain) {
  return domain.IsNone() ? 0 : store.nvtx_domains.native_id[domain.row()];
}

Status WritePayloadSchemas(NsysWriter& writer) {
  const Store& store = writer.store;
  const NvtxPayloadSchemasTable& schemas = store.nvtx_payload_schemas;
  RETURN_IF_ERROR(writer.Table("NVTX_PAYLOAD_SCHEMAS",
                               "domainId schemaId name type flags numEntries payloadSize",
                               schemas.size(), [&](SqliteInsert& insert) {
                                 for (size_t row = 0; row < schemas.size(); ++row) {
                                   insert.Int(NativeDomain(store, schemas.domain[row]))
                                       .U64(schemas.schema_id[row])
                                       .Text(store.Text(schemas.name[row]))
                                       .Int(Number(schemas.type[row]))
                                       .U64(schemas.flags[row])
                                       .Int(schemas.entry_count[row])
                                       .U64(schemas.payload_bytes[row]);
                                   insert.Done();
                                 }
                               }));
  return writer.Table("NVTX_PAYLOAD_SCHEMA_ENTRIES",
                      "domainId schemaId idx flags type name description arrayOrUnionDetail offset",
                      store.nvtx_payload_entries.size(), [&](SqliteInsert& insert) {
                        for (size_t row = 0; row < schemas.size(); ++row) {
                          for (uint32_t i = 0; i < schemas.entry_count[row]; ++i) {
                            const size_t place = schemas.entry_begin[row] + size_t{i};
                            if (place >= store.nvtx_payload_entries.size()) break;
                            const NvtxPayloadEntriesRow entry =
                                store.nvtx_payload_entries.Row(place);
                            insert.Int(NativeDomain(store, schemas.domain[row]))
                                .U64(schemas.schema_id[row])
                                .Int(i)
                                .U64(entry.flags)
                                .U64(entry.type)
                                .Text(store.Text(entry.name))
                                .Text(store.Text(entry.description))
                                .U64(entry.array_or_union_detail)
                                .U64(entry.offset);
                            insert.Done();
                          }
                        }
                      });
}

}  // namespace

Status WriteNvtxTables(NsysWriter& writer) {
  const std::vector<NvtxEvent> events = NvtxEventOrder(writer.store);
  RETURN_IF_ERROR(writer.Table(
      "NVTX_EVENTS",
      "start end eventType rangeId category color text globalTid endGlobalTid textId domainId "
      "uint64Value int64Value doubleValue uint32Value int32Value floatValue binaryData eventId",
      events.size(), [&](SqliteInsert& insert) {
        NvtxRows rows(writer, insert);
        for (size_t i = 0; i < events.size(); ++i) {
          rows.Write(events[i], static_cast<int64_t>(i) + 1);
        }
      }));
  return WritePayloadSchemas(writer);
}

}  // namespace batchlight
