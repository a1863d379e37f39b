#include "ingest/decode/nvtx_decoder.h"

namespace batchlight {
namespace {

using format::RecordKind;
using format::RecordView;

constexpr uint16_t kFlagRegistered = 1;
constexpr uint16_t kFlagColor = 2;

}  // namespace

void NvtxDecoder::BeginPiece() {
  default_nesting_.Begin(context_.thread, NvtxDomainId::None(), Rows());
  outside_.Keep(Rows());
  owner_ = Owner::kNone;
  pending_pop_ = false;
  cut_ns_.reset();
  schema_entries_left_ = enum_entries_left_ = 0;
}

void NvtxDecoder::Decode(const RecordView& view) {
  switch (view.kind) {
    case RecordKind::kRangePush:
      return Push(view);
    case RecordKind::kRangePop:
      return Pop(context_.Now(view.ticks), NvtxDomainId::None());
    case RecordKind::kRangePushEx:
      return PushEx(view);
    case RecordKind::kRangePopDomain:
      return Pop(context_.Now(view.ticks), Domain(view.As<format::RangePopDomainRecord>().domain));
    case RecordKind::kRangeStart:
      return Start(view);
    case RecordKind::kRangeEnd:
      return End(view);
    case RecordKind::kMark:
      return Mark(view);
    case RecordKind::kPayloadBlob:
      return Blob(view);
    case RecordKind::kPopPayload:
      pending_pop_ = true;
      pending_first_ = static_cast<uint32_t>(context_.fragment.store.nvtx_payload_blobs.size());
      return;
    case RecordKind::kPayloadSchema:
    case RecordKind::kPayloadSchemaEntry:
      return Schema(view);
    case RecordKind::kPayloadEnum:
    case RecordKind::kPayloadEnumEntry:
      return Enum(view);
    default:
      return Name(view);
  }
}

NvtxDomainId NvtxDecoder::Domain(uint32_t ref) {
  const StringId name = context_.String(ref);
  if (name.IsNone()) return NvtxDomainId::None();
  if (ref >= domains_.size()) domains_.resize(ref + 1);
  if (domains_[ref].first) return domains_[ref].second;
  const uint64_t key = (uint64_t{context_.process.value} << 32) | name.value;
  NvtxDomainsTable& table = context_.fragment.store.nvtx_domains;
  auto [place, added] = domain_rows_.try_emplace(key, NvtxDomainId::At(table.size()));
  if (added) table.Append({.process = context_.process, .name = name});
  domains_[ref] = {true, place->second};
  return place->second;
}

Nesting& NvtxDecoder::NestingOf(NvtxDomainId domain) {
  if (domain.IsNone()) return default_nesting_;
  if (domain.row() >= domain_nestings_.size()) domain_nestings_.resize(domain.row() + 1);
  Nesting& nesting = domain_nestings_[domain.row()];
  if (!nesting.active()) {
    nesting.Begin(context_.thread, domain, Rows());
    outside_.Keep(Rows());
    if (cut_ns_) nesting.Cut(*cut_ns_, Rows());
    active_domains_.push_back(domain);
  }
  return nesting;
}

void NvtxDecoder::OpenRange(int64_t start_ns, NvtxDomainId domain, StringId message,
                            NvtxAttributesId attributes, bool registered) {
  NvtxRangesTable& table = context_.fragment.store.nvtx_ranges;
  Nesting& nesting = NestingOf(domain);
  const auto row = static_cast<uint32_t>(table.start_ns.size());
  table.Append({.start_ns = start_ns,
                .end_ns = kOpenEnd,
                .thread = context_.thread,
                .domain = domain,
                .message = message,
                .attributes = attributes,
                .parent = {nesting.parent()},
                .depth = ShortDepth(nesting.depth()),
                .style = NvtxStyle::kPushPop,
                .registered = ToYesNo(registered)});
  nesting.Push(row);
  owner_ = Owner::kRange;
  owner_row_ = row;
}

void NvtxDecoder::Push(const RecordView& view) {
  const auto record = view.As<format::RangePushRecord>();
  OpenRange(context_.Now(view.ticks), NvtxDomainId::None(), context_.String(record.message),
            NvtxAttributesId::None(), (record.flags & kFlagRegistered) != 0);
}

void NvtxDecoder::PushEx(const RecordView& view) {
  const auto record = view.As<format::RangePushExRecord>();
  OpenRange(context_.Now(view.ticks), Domain(record.domain), context_.String(record.message),
            Attributes(
                {record.category, record.color, record.flags, record.payload_type, record.payload}),
            (record.flags & kFlagRegistered) != 0);
}

void NvtxDecoder::EndRange(uint32_t row, int64_t end_ns) {
  Store& store = context_.fragment.store;
  store.nvtx_ranges.end_ns[row] = end_ns;
  store.nvtx_ranges.end_thread[row] = context_.thread;
  if (!pending_pop_) return;
  pending_pop_ = false;
  const auto count = static_cast<uint32_t>(store.nvtx_payload_blobs.size()) - pending_first_;
  AttachBlobs(store.nvtx_ranges.attributes[row], pending_first_, count);
}

void NvtxDecoder::Pop(int64_t at_ns, NvtxDomainId domain) {
  const uint32_t row = NestingOf(domain).Pop(at_ns, Rows());
  if (row != kNoRow) {
    EndRange(row, at_ns);
    outside_.Ended(context_.fragment.store.nvtx_ranges, row);
  } else {
    outside_.Keep(Rows());
  }
  owner_ = Owner::kNone;
  pending_pop_ = false;
}

void NvtxDecoder::Start(const RecordView& view) {
  const auto record = view.As<format::RangeStartRecord>();
  NvtxRangesTable& table = context_.fragment.store.nvtx_ranges;
  const auto row = static_cast<uint32_t>(table.start_ns.size());
  table.Append({.start_ns = context_.Now(view.ticks),
                .end_ns = kOpenEnd,
                .thread = context_.thread,
                .domain = Domain(record.domain),
                .message = context_.String(record.message),
                .attributes = Attributes({record.category, record.color, record.flags,
                                          record.payload_type, record.payload}),
                .style = NvtxStyle::kStartEnd,
                .registered = ToYesNo((record.flags & kFlagRegistered) != 0)});
  open_ranges_[record.range_id] = row;
  owner_ = Owner::kRange;
  owner_row_ = row;
}

void NvtxDecoder::End(const RecordView& view) {
  const uint64_t range_id = view.As<format::RangeEndRecord>().range_id;
  const int64_t at_ns = context_.Now(view.ticks);
  const auto open = open_ranges_.find(range_id);
  if (open != open_ranges_.end()) {
    EndRange(open->second, at_ns);
    outside_.Ended(context_.fragment.store.nvtx_ranges, open->second);
    open_ranges_.erase(open);
  } else {
    context_.fragment.loose_ends.push_back(
        {context_.process, range_id, kNoRow, context_.thread, at_ns});
  }
  owner_ = Owner::kNone;
  pending_pop_ = false;
}

void NvtxDecoder::Mark(const RecordView& view) {
  const auto record = view.As<format::MarkRecord>();
  NvtxMarksTable& table = context_.fragment.store.nvtx_marks;
  owner_ = Owner::kMark;
  owner_row_ = static_cast<uint32_t>(table.size());
  table.Append({.start_ns = context_.Now(view.ticks),
                .thread = context_.thread,
                .domain = Domain(record.domain),
                .message = context_.String(record.message),
                .attributes = Attributes({record.category, record.color, record.flags,
                                          record.payload_type, record.payload}),
                .registered = ToYesNo((record.flags & kFlagRegistered) != 0)});
}

// Equal attributes that come close together share a row: most programs use only a few colors.
NvtxAttributesId NvtxDecoder::Attributes(const Extras& extras) {
  const YesNo has_color = ToYesNo((extras.flags & kFlagColor) != 0);
  if (extras.category == 0 && has_color == YesNo::kNo && extras.payload_type == 0) {
    return NvtxAttributesId::None();
  }
  NvtxAttributesTable& table = context_.fragment.store.nvtx_attributes;
  uint64_t hash = (uint64_t{extras.category} << 32) ^ extras.color ^ (extras.payload * 31);
  hash = (hash * 0x9e3779b97f4a7c15u) >> 58;
  NvtxAttributesId& recent = recent_attributes_[hash % recent_attributes_.size()];
  if (!recent.IsNone()) {
    const size_t row = recent.row();
    if (table.category[row] == extras.category && table.color[row] == extras.color &&
        table.has_color[row] == has_color &&
        Number(table.payload_type[row]) == extras.payload_type &&
        table.payload[row] == extras.payload && table.blob_count[row] == 0) {
      return recent;
    }
  }
  recent = NvtxAttributesId::At(table.size());
  table.Append({.category = extras.category,
                .color = extras.color,
                .has_color = has_color,
                .payload_type = static_cast<NvtxPayloadType>(extras.payload_type),
                .payload = extras.payload});
  return recent;
}

NvtxAttributesId* NvtxDecoder::OwnerAttributes() {
  Store& store = context_.fragment.store;
  switch (owner_) {
    case Owner::kRange:
      return &store.nvtx_ranges.attributes[owner_row_];
    case Owner::kMark:
      return &store.nvtx_marks.attributes[owner_row_];
    case Owner::kNone:
      break;
  }
  return nullptr;
}

void NvtxDecoder::Blob(const RecordView& view) {
  const auto record = view.As<format::PayloadBlobRecord>();
  Store& store = context_.fragment.store;
  const auto row = static_cast<uint32_t>(store.nvtx_payload_blobs.size());
  store.nvtx_payload_blobs.Append(
      {.schema_id = record.schema_id,
       .bytes = store.strings.Intern(view.BytesAfter<format::PayloadBlobRecord>(record.byte_count)),
       .full_byte_count = record.full_byte_count});
  if (pending_pop_) return;
  if (NvtxAttributesId* attributes = OwnerAttributes()) AttachBlobs(*attributes, row, 1);
}

// Gives `attributes` a row of its own that ends with the blobs [first, first + count), which are
// the last rows of their table.
void NvtxDecoder::AttachBlobs(NvtxAttributesId& attributes, uint32_t first, uint32_t count) {
  if (count == 0) return;
  Store& store = context_.fragment.store;
  NvtxAttributesTable& table = store.nvtx_attributes;
  NvtxPayloadBlobsTable& blobs = store.nvtx_payload_blobs;
  NvtxAttributesRow row;
  if (!attributes.IsNone()) row = table.Row(attributes.row());
  const bool extends = row.blob_count > 0 && row.blob_begin + row.blob_count == first;
  if (extends) {
    table.blob_count[attributes.row()] += count;
    return;
  }
  if (row.blob_count > 0) {  // move the earlier ones, so that all lie together
    const auto begin = static_cast<uint32_t>(blobs.size());
    for (uint32_t i = 0; i < row.blob_count; ++i) blobs.Append(blobs.Row(row.blob_begin + i));
    for (uint32_t i = 0; i < count; ++i) blobs.Append(blobs.Row(first + i));
    row.blob_begin = begin;
  } else {
    row.blob_begin = first;
  }
  row.blob_count += count;
  attributes = NvtxAttributesId::At(table.size());
  table.Append(row);
}

void NvtxDecoder::Schema(const RecordView& view) {
  Store& store = context_.fragment.store;
  if (view.kind == RecordKind::kPayloadSchema) {
    const auto record = view.As<format::PayloadSchemaRecord>();
    schema_entries_left_ = record.entry_count;
    store.nvtx_payload_schemas.Append(
        {.process = context_.process,
         .domain = Domain(record.domain),
         .schema_id = record.schema_id,
         .name = context_.String(record.name),
         .type = static_cast<NvtxSchemaType>(record.type),
         .flags = record.flags,
         .payload_bytes = record.payload_bytes,
         .entry_begin = static_cast<uint32_t>(store.nvtx_payload_entries.size())});
    return;
  }
  if (schema_entries_left_ == 0) return;
  --schema_entries_left_;
  const auto record = view.As<format::PayloadSchemaEntryRecord>();
  ++store.nvtx_payload_schemas.entry_count.back();
  store.nvtx_payload_entries.Append({.flags = record.flags,
                                     .type = record.type,
                                     .name = context_.String(record.name),
                                     .description = context_.String(record.description),
                                     .array_or_union_detail = record.array_or_union_detail,
                                     .offset = record.offset});
}

void NvtxDecoder::Enum(const RecordView& view) {
  if (view.kind == RecordKind::kPayloadEnum) {
    const auto record = view.As<format::PayloadEnumRecord>();
    enum_entries_left_ = record.entry_count;
    enum_row_ = {.process = context_.process,
                 .domain = Domain(record.domain),
                 .schema_id = record.schema_id,
                 .enum_name = context_.String(record.name)};
    return;
  }
  if (enum_entries_left_ == 0) return;
  --enum_entries_left_;
  const auto record = view.As<format::PayloadEnumEntryRecord>();
  enum_row_.value = record.value;
  enum_row_.name = context_.String(record.name);
  enum_row_.is_flag = ToYesNo(record.is_flag != 0);
  context_.fragment.store.nvtx_payload_enum_values.Append(enum_row_);
}

void NvtxDecoder::Name(const RecordView& view) {
  Store& store = context_.fragment.store;
  if (view.kind == RecordKind::kCategoryName) {
    const auto record = view.As<format::CategoryNameRecord>();
    store.nvtx_categories.Append({.process = context_.process,
                                  .domain = Domain(record.domain),
                                  .category = record.category,
                                  .name = context_.String(record.name)});
  } else if (view.kind == RecordKind::kResourceName) {
    const auto record = view.As<format::ResourceNameRecord>();
    if (record.destroyed != 0) return;  // the name still holds for the time before
    store.nvtx_resources.Append({.process = context_.process,
                                 .domain = Domain(record.domain),
                                 .type = static_cast<NvtxResourceType>(record.type),
                                 .identifier = record.identifier,
                                 .name = context_.String(record.name)});
  } else if (view.kind == RecordKind::kDomainLife) {
    Domain(view.As<format::DomainLifeRecord>().domain);
  }
}

void NvtxDecoder::Cut(int64_t at_ns) {
  if (!cut_ns_) cut_ns_ = at_ns;
  NvtxRangesTable& table = context_.fragment.store.nvtx_ranges;
  const auto rows = static_cast<uint32_t>(table.start_ns.size());
  uint64_t open = 0;
  const auto cut = [&](Nesting& nesting) {
    for (const uint32_t row : nesting.Cut(at_ns, rows)) {
      table.end_ns[row] = std::max(table.start_ns[row], at_ns);
      table.end_thread[row] = context_.thread;
      ++open;
    }
  };
  cut(default_nesting_);
  for (const NvtxDomainId domain : active_domains_) cut(domain_nestings_[domain.row()]);
  context_.fragment.Count(context_.process, format::Counter::kRangesOpenAtEnd, open);
  owner_ = Owner::kNone;
  pending_pop_ = false;
}

void NvtxDecoder::EndPiece() {
  Fragment& fragment = context_.fragment;
  const auto rows = static_cast<uint32_t>(fragment.store.nvtx_ranges.size());
  uint64_t unbalanced = default_nesting_.unbalanced_ends();
  fragment.AddPiece(NestedTable::kNvtxRanges, default_nesting_.Finish(rows));
  for (const NvtxDomainId domain : active_domains_) {
    Nesting& nesting = domain_nestings_[domain.row()];
    unbalanced += nesting.unbalanced_ends();
    fragment.AddPiece(NestedTable::kNvtxRanges, nesting.Finish(rows));
  }
  active_domains_.clear();
  fragment.Count(context_.process, format::Counter::kPopsUnbalanced, unbalanced);
  for (const auto& [range_id, row] : open_ranges_) {
    fragment.loose_starts.push_back({context_.process, range_id, row, context_.thread,
                                     fragment.store.nvtx_ranges.start_ns[row]});
  }
  open_ranges_.clear();
}

}  // namespace batchlight
