// NVTX_EVENTS of an nsys export: ranges, marks, domains, categories, thread names.
#include <bit>
#include <map>
#include <set>
#include <unordered_map>

#include "ingest/nsys/nsys_load.h"
#include "store/nsys_payloads.h"

namespace batchlight::nsys {
namespace {

// ENUM_NSYS_EVENT_TYPE; 65, 70, 71 are the same things imported from a text file.
enum EventType : int64_t {
  kCategory = 33,
  kMark = 34,
  kThreadName = 39,
  kPushPopRange = 59,
  kStartEndRange = 60,
  kTextMark = 65,
  kTextPushPopRange = 70,
  kTextStartEndRange = 71,
  kDomainCreate = 75,
};

enum Column : int {
  kStart,
  kEnd,
  kType,
  kThread,
  kText,
  kTextId,
  kDomain,
  kEndThread,
  kCategoryColumn,
  kColor,
  kUint64,
  kInt64,
  kDouble,
  kUint32,
  kInt32,
  kFloat,
  kBinary,
  kEventId,
};

class NvtxReader {
 public:
  explicit NvtxReader(Load& load) : load_(load), store_(*load.store) {}
  Status Read();

 private:
  StringId Message(NsysTable& rows) {
    const StringId registered = load_.String(rows, kTextId);
    return registered.IsNone() ? store_.strings.Intern(rows.Text(kText)) : registered;
  }
  NvtxDomainId Domain(NsysTable& rows);
  NvtxAttributesId Attributes(NsysTable& rows);
  void AddRange(NsysTable& rows, const RowChecks& checks, NvtxStyle style);

  Load& load_;
  Store& store_;
  std::map<std::pair<uint32_t, int64_t>, NvtxDomainId> domains_;
  std::unordered_map<uint64_t, NvtxAttributesId> plain_attributes_;  // category and color alone
};

NvtxDomainId NvtxReader::Domain(NsysTable& rows) {
  const int64_t native = rows.Int(kDomain);
  if (native == 0) return NvtxDomainId::None();
  const ProcessId process = load_.Process(rows, kThread);
  const auto [place, added] = domains_.try_emplace({process.value, native});
  if (added) {
    place->second = NvtxDomainId::At(store_.nvtx_domains.size());
    store_.nvtx_domains.Append({.process = process,
                                .name = StringId::None(),
                                .native_id = static_cast<uint32_t>(native),
                                .created_ns = INT64_MIN});
  }
  return place->second;
}

NvtxAttributesId NvtxReader::Attributes(NsysTable& rows) {
  NvtxAttributesRow row{.category = rows.U32(kCategoryColumn),
                        .color = rows.U32(kColor),
                        .has_color = ToYesNo(!rows.IsNull(kColor))};
  constexpr std::pair<int, NvtxPayloadType> kPayloads[] = {
      {kUint64, NvtxPayloadType::kUint64}, {kInt64, NvtxPayloadType::kInt64},
      {kDouble, NvtxPayloadType::kDouble}, {kUint32, NvtxPayloadType::kUint32},
      {kInt32, NvtxPayloadType::kInt32},   {kFloat, NvtxPayloadType::kFloat}};
  for (const auto& [column, type] : kPayloads) {
    if (rows.IsNull(column)) continue;
    row.payload_type = type;
    if (type == NvtxPayloadType::kDouble) {
      row.payload = std::bit_cast<uint64_t>(rows.Real(column));
    } else if (type == NvtxPayloadType::kFloat) {
      row.payload = std::bit_cast<uint32_t>(static_cast<float>(rows.Real(column)));
    } else {
      row.payload = rows.U64(column);
    }
    break;
  }
  if (const std::string_view bytes = rows.Text(kBinary); !bytes.empty()) {
    std::vector<NsysPayload> payloads = UnpackNsysPayloads(bytes);
    if (payloads.empty()) payloads.push_back({.schema_id = 0, .bytes = bytes});  // as they are
    row.blob_begin = static_cast<uint32_t>(store_.nvtx_payload_blobs.size());
    row.blob_count = static_cast<uint32_t>(payloads.size());
    for (const NsysPayload& payload : payloads) {
      store_.nvtx_payload_blobs.Append(
          {.schema_id = payload.schema_id,
           .bytes = store_.strings.Intern(payload.bytes),
           .full_byte_count = static_cast<uint32_t>(payload.bytes.size())});
    }
  }
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

void NvtxReader::AddRange(NsysTable& rows, const RowChecks& checks, NvtxStyle style) {
  const ThreadId thread = load_.Thread(rows, kThread);
  const ThreadId end_thread = load_.Thread(rows, kEndThread);
  store_.nvtx_ranges.Append({.start_ns = checks.start(),
                             .end_ns = checks.end(),
                             .thread = thread,
                             .end_thread = end_thread.IsNone() ? thread : end_thread,
                             .domain = Domain(rows),
                             .message = Message(rows),
                             .attributes = Attributes(rows),
                             .style = style,
                             .registered = ToYesNo(!rows.IsNull(kTextId)),
                             .native_row = rows.U32(kEventId, static_cast<uint32_t>(rows.row()))});
}

Status NvtxReader::Read() {
  ASSIGN_OR_RETURN(NsysTable rows,
                   NsysTable::Open(*load_.database, "NVTX_EVENTS",
                                   {"start", "end", "eventType", "globalTid", "text", "textId",
                                    "domainId", "endGlobalTid", "category", "color", "uint64Value",
                                    "int64Value", "doubleValue", "uint32Value", "int32Value",
                                    "floatValue", "binaryData", "eventId?"}));
  load_.NoteMissing(rows);
  store_.nvtx_ranges.Reserve(rows.count());
  RowChecks checks(rows);
  while (rows.Next()) {
    switch (rows.Int(kType)) {
      case kPushPopRange:
      case kTextPushPopRange:
        if (checks.ReadTimes(kStart, kEnd)) AddRange(rows, checks, NvtxStyle::kPushPop);
        break;
      case kStartEndRange:
      case kTextStartEndRange:
        if (checks.ReadTimes(kStart, kEnd)) AddRange(rows, checks, NvtxStyle::kStartEnd);
        break;
      case kMark:
      case kTextMark:
        if (!checks.ReadInstant(kStart)) break;
        store_.nvtx_marks.Append({.start_ns = checks.start(),
                                  .thread = load_.Thread(rows, kThread),
                                  .domain = Domain(rows),
                                  .message = Message(rows),
                                  .attributes = Attributes(rows),
                                  .registered = ToYesNo(!rows.IsNull(kTextId))});
        break;
      case kDomainCreate:
        if (!checks.ReadInstant(kStart)) break;
        if (const NvtxDomainId domain = Domain(rows); !domain.IsNone()) {
          store_.nvtx_domains.name[domain.row()] = Message(rows);
          store_.nvtx_domains.created_ns[domain.row()] = checks.start();
        }
        break;
      case kCategory:
        store_.nvtx_categories.Append({.process = load_.Process(rows, kThread),
                                       .domain = Domain(rows),
                                       .category = rows.U32(kCategoryColumn),
                                       .name = Message(rows)});
        break;
      default:
        break;  // thread names come from ThreadNames; the rest names resources of other kinds
    }
  }
  load_.thread_columns.push_back(&store_.nvtx_ranges.thread);
  load_.thread_columns.push_back(&store_.nvtx_ranges.end_thread);
  load_.thread_columns.push_back(&store_.nvtx_marks.thread);
  load_.process_columns.push_back(&store_.nvtx_domains.process);
  load_.process_columns.push_back(&store_.nvtx_categories.process);
  return checks.Done(load_);
}

Status LoadPayloadSchemas(Load& load) {
  Store& store = *load.store;
  ASSIGN_OR_RETURN(NsysTable schemas, NsysTable::Open(*load.database, "NVTX_PAYLOAD_SCHEMAS",
                                                      {"schemaId", "name", "type", "flags",
                                                       "payloadSize", "domainId"}));
  // The tables do not name processes: what one registered stands for all with that domain, and
  // stands there once for each.
  std::map<std::pair<int64_t, uint64_t>, std::map<int64_t, NvtxPayloadEntriesRow>> entries;
  ASSIGN_OR_RETURN(NsysTable rows,
                   NsysTable::Open(*load.database, "NVTX_PAYLOAD_SCHEMA_ENTRIES",
                                   {"domainId", "schemaId", "flags", "type", "name", "description",
                                    "arrayOrUnionDetail", "offset", "idx"}));
  while (rows.Next()) {
    entries[{rows.Int(0), rows.U64(1)}].try_emplace(
        rows.Int(8), NvtxPayloadEntriesRow{.flags = rows.U64(2),
                                           .type = rows.U64(3),
                                           .name = store.strings.Intern(rows.Text(4)),
                                           .description = store.strings.Intern(rows.Text(5)),
                                           .array_or_union_detail = rows.U64(6),
                                           .offset = rows.U64(7)});
  }
  RETURN_IF_ERROR(rows.status());
  std::set<std::pair<int64_t, uint64_t>> known;
  while (schemas.Next()) {
    if (!known.emplace(schemas.Int(5), schemas.U64(0)).second) continue;
    const auto& fields = entries[{schemas.Int(5), schemas.U64(0)}];
    NvtxPayloadSchemasRow row{
        .schema_id = schemas.U64(0),
        .name = store.strings.Intern(schemas.Text(1)),
        .type = static_cast<NvtxSchemaType>(schemas.U32(2)),
        .flags = schemas.U64(3),
        .payload_bytes = schemas.U64(4),
        .entry_begin = static_cast<uint32_t>(store.nvtx_payload_entries.size()),
        .entry_count = static_cast<uint32_t>(fields.size())};
    for (const auto& [index, field] : fields) store.nvtx_payload_entries.Append(field);
    const size_t before = store.nvtx_payload_schemas.size();
    for (size_t d = 0; d < store.nvtx_domains.size(); ++d) {
      if (store.nvtx_domains.native_id[d] != schemas.U32(5)) continue;
      row.domain = NvtxDomainId::At(d);
      row.process = store.nvtx_domains.process[d];
      store.nvtx_payload_schemas.Append(row);
    }
    if (store.nvtx_payload_schemas.size() == before) store.nvtx_payload_schemas.Append(row);
  }
  load.process_columns.push_back(&store.nvtx_payload_schemas.process);
  return schemas.status();
}

}  // namespace

Status LoadNvtx(Load& load) {
  RETURN_IF_ERROR(NvtxReader(load).Read());
  return LoadPayloadSchemas(load);
}

}  // namespace batchlight::nsys
