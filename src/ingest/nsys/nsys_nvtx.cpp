// NVTX_EVENTS of an nsys export: ranges, marks, domains, categories, thread names.
#include <bit>
#include <map>
#include <set>
#include <unordered_map>

#include "ingest/nsys/nsys_rows.h"
#include "nsys/nvtx_tables.h"
#include "nsys/payload.h"

namespace batchlight::nsys {
namespace {

using Event = NvtxEventsRow;

class NvtxReader {
 public:
  explicit NvtxReader(Load& load) : load_(load), store_(*load.store) {}
  Status Read();

 private:
  void Take(Event& event, const NsysTable& rows, RowChecks& checks);
  void AddRange(const Event& event, const NsysTable& rows, NvtxStyle style);
  void AddMark(const Event& event, const NsysTable& rows);
  StringId Message(const Event& event, const NsysTable& rows) {
    const StringId registered = load_.String(event.text_id, rows);
    return registered.IsNone() ? store_.strings.Intern(event.text.value_or("")) : registered;
  }
  NvtxDomainId Domain(const Event& event);
  NvtxAttributesId Attributes(const Event& event);
  void AddPayloads(std::string_view packed, NvtxAttributesRow& row);

  Load& load_;
  Store& store_;
  std::map<std::pair<uint32_t, int64_t>, NvtxDomainId> domains_;
  std::unordered_map<uint64_t, NvtxAttributesId> plain_attributes_;  // category and color alone
};

NvtxDomainId NvtxReader::Domain(const Event& event) {
  if (event.domain == 0) return NvtxDomainId::None();
  const ProcessId process = load_.Process(event.thread);
  const auto [place, added] = domains_.try_emplace({process.value, event.domain});
  if (added) {
    place->second = NvtxDomainId::At(store_.nvtx_domains.size());
    store_.nvtx_domains.Append({.process = process,
                                .name = StringId::None(),
                                .native_id = static_cast<uint32_t>(event.domain),
                                .created_ns = INT64_MIN});
  }
  return place->second;
}

void SetPayload(const Event& event, NvtxAttributesRow& row) {
  const auto set = [&](NvtxPayloadType type, uint64_t bits) {
    row.payload_type = type;
    row.payload = bits;
  };
  if (event.uint64_value) {
    set(NvtxPayloadType::kUint64, static_cast<uint64_t>(*event.uint64_value));
  } else if (event.int64_value) {
    set(NvtxPayloadType::kInt64, static_cast<uint64_t>(*event.int64_value));
  } else if (event.double_value) {
    set(NvtxPayloadType::kDouble, std::bit_cast<uint64_t>(*event.double_value));
  } else if (event.uint32_value) {
    set(NvtxPayloadType::kUint32, static_cast<uint64_t>(*event.uint32_value));
  } else if (event.int32_value) {
    set(NvtxPayloadType::kInt32, static_cast<uint64_t>(*event.int32_value));
  } else if (event.float_value) {
    set(NvtxPayloadType::kFloat, std::bit_cast<uint32_t>(static_cast<float>(*event.float_value)));
  }
}

void NvtxReader::AddPayloads(std::string_view packed, NvtxAttributesRow& row) {
  if (packed.empty()) return;
  std::vector<Payload> payloads = UnpackPayloads(packed);
  if (payloads.empty()) payloads.push_back({.schema_id = 0, .bytes = packed});  // as they are
  row.blob_begin = static_cast<uint32_t>(store_.nvtx_payload_blobs.size());
  row.blob_count = static_cast<uint32_t>(payloads.size());
  for (const Payload& payload : payloads) {
    store_.nvtx_payload_blobs.Append(
        {.schema_id = payload.schema_id,
         .bytes = store_.strings.Intern(payload.bytes),
         .full_byte_count = static_cast<uint32_t>(payload.bytes.size())});
  }
}

NvtxAttributesId NvtxReader::Attributes(const Event& event) {
  NvtxAttributesRow row{.category = static_cast<uint32_t>(event.category.value_or(0)),
                        .color = static_cast<uint32_t>(event.color.value_or(0)),
                        .has_color = ToYesNo(event.color.has_value())};
  SetPayload(event, row);
  AddPayloads(event.payloads, row);
  const bool plain = row.payload_type == NvtxPayloadType::kNone && row.blob_count == 0;
  if (plain && row.category == 0 && row.has_color == YesNo::kNo) return NvtxAttributesId::None();
  const auto next = NvtxAttributesId::At(store_.nvtx_attributes.size());
  if (plain) {
    const uint64_t key =
        uint64_t{row.category} << 32 ^ row.color ^ uint64_t { Number(row.has_color) } << 63;
    const auto [place, added] = plain_attributes_.try_emplace(key, next);
    if (!added) return place->second;
  }
  store_.nvtx_attributes.Append(row);
  return next;
}

void NvtxReader::AddRange(const Event& event, const NsysTable& rows, NvtxStyle style) {
  const ThreadId thread = load_.Thread(event.thread);
  const ThreadId end_thread = load_.Thread(event.end_thread);
  const int64_t id = event.id.value_or(static_cast<int64_t>(rows.row()));
  store_.nvtx_ranges.Append({.start_ns = event.start_ns,
                             .end_ns = event.end_ns,
                             .thread = thread,
                             .end_thread = end_thread.IsNone() ? thread : end_thread,
                             .domain = Domain(event),
                             .message = Message(event, rows),
                             .attributes = Attributes(event),
                             .style = style,
                             .registered = ToYesNo(event.text_id.has_value()),
                             .native_row = static_cast<uint32_t>(id)});
}

void NvtxReader::AddMark(const Event& event, const NsysTable& rows) {
  store_.nvtx_marks.Append({.start_ns = event.start_ns,
                            .thread = load_.Thread(event.thread),
                            .domain = Domain(event),
                            .message = Message(event, rows),
                            .attributes = Attributes(event),
                            .registered = ToYesNo(event.text_id.has_value())});
}

void NvtxReader::Take(Event& event, const NsysTable& rows, RowChecks& checks) {
  const auto has_stretch = [&] {
    if (!ReadRowTimes(kNvtxEvents, checks)) return false;
    event.start_ns = checks.start();
    event.end_ns = checks.end();
    return true;
  };
  const auto has_instant = [&] {
    if (!ReadRowStart(kNvtxEvents, checks)) return false;
    event.start_ns = checks.start();
    return true;
  };
  switch (event.type) {
    case EventType::kPushPopRange:
    case EventType::kTextPushPopRange:
      if (has_stretch()) AddRange(event, rows, NvtxStyle::kPushPop);
      break;
    case EventType::kStartEndRange:
    case EventType::kTextStartEndRange:
      if (has_stretch()) AddRange(event, rows, NvtxStyle::kStartEnd);
      break;
    case EventType::kMark:
    case EventType::kTextMark:
      if (has_instant()) AddMark(event, rows);
      break;
    case EventType::kDomainCreate:
      if (!has_instant()) break;
      if (const NvtxDomainId domain = Domain(event); !domain.IsNone()) {
        store_.nvtx_domains.name[domain.row()] = Message(event, rows);
        store_.nvtx_domains.created_ns[domain.row()] = event.start_ns;
      }
      break;
    case EventType::kCategory:
      store_.nvtx_categories.Append({.process = load_.Process(event.thread),
                                     .domain = Domain(event),
                                     .category = static_cast<uint32_t>(event.category.value_or(0)),
                                     .name = Message(event, rows)});
      break;
    default:
      break;  // thread names come from ThreadNames; the rest names resources of other kinds
  }
}

Status NvtxReader::Read() {
  ASSIGN_OR_RETURN(NsysTable rows, OpenRows(*load_.database, kNvtxEvents));
  load_.NoteMissing(rows);
  store_.nvtx_ranges.Reserve(rows.count());
  RowChecks checks(rows);
  NoRow none;
  while (rows.Next()) {
    Event event;
    FillRow(kNvtxEvents, load_, rows, event, none);
    Take(event, rows, checks);
  }
  load_.thread_columns.push_back(&store_.nvtx_ranges.thread);
  load_.thread_columns.push_back(&store_.nvtx_ranges.end_thread);
  load_.thread_columns.push_back(&store_.nvtx_marks.thread);
  load_.process_columns.push_back(&store_.nvtx_domains.process);
  load_.process_columns.push_back(&store_.nvtx_categories.process);
  return checks.Done(load_);
}

// The tables do not name processes, so what one process registered is stored once for each process
// that has that domain.
using Key = PayloadSchemaKey;
using EntryMap = std::map<std::pair<int64_t, uint64_t>, std::map<int64_t, NvtxPayloadEntriesRow>>;

void AppendSchema(Store& store, NvtxPayloadSchemasRow row, int64_t domain) {
  const size_t before = store.nvtx_payload_schemas.size();
  for (size_t d = 0; d < store.nvtx_domains.size(); ++d) {
    if (store.nvtx_domains.native_id[d] != static_cast<uint32_t>(domain)) continue;
    row.domain = NvtxDomainId::At(d);
    row.process = store.nvtx_domains.process[d];
    store.nvtx_payload_schemas.Append(row);
  }
  if (store.nvtx_payload_schemas.size() == before) store.nvtx_payload_schemas.Append(row);
}

Status LoadPayloadSchemas(Load& load) {
  Store& store = *load.store;
  EntryMap entries;
  RETURN_IF_ERROR((VisitRows<NvtxPayloadEntriesRow, Key>(
      load, kPayloadEntries, [&](const NvtxPayloadEntriesRow& row, const Key& key) {
        entries[{key.domain, key.schema_id}].try_emplace(key.index, row);
      })));
  std::set<std::pair<int64_t, uint64_t>> known;
  load.process_columns.push_back(&store.nvtx_payload_schemas.process);
  return VisitRows<NvtxPayloadSchemasRow, Key>(
      load, kPayloadSchemas, [&](NvtxPayloadSchemasRow& row, const Key& key) {
        if (!known.emplace(key.domain, row.schema_id).second) return;
        const auto& fields = entries[{key.domain, row.schema_id}];
        row.entry_begin = static_cast<uint32_t>(store.nvtx_payload_entries.size());
        row.entry_count = static_cast<uint32_t>(fields.size());
        for (const auto& [index, field] : fields) store.nvtx_payload_entries.Append(field);
        AppendSchema(store, row, key.domain);
      });
}

}  // namespace

Status LoadNvtx(Load& load) {
  RETURN_IF_ERROR(NvtxReader(load).Read());
  return LoadPayloadSchemas(load);
}

}  // namespace batchlight::nsys
