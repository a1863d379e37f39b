// NVTX's tables in nsys's file. Domains, categories, ranges and marks of the store are all rows of
// NVTX_EVENTS, told apart by eventType.
#pragma once

#include <optional>
#include <string_view>

#include "nsys/enums.h"
#include "nsys/table.h"
#include "store/store.h"

namespace batchlight::nsys {

// A row as it is in the file; fields that its type of event lacks are NULL.
struct NvtxEventsRow {
  int64_t start_ns = 0;
  int64_t end_ns = kOpenEnd;
  EventType type{};
  std::optional<int64_t> category;
  std::optional<int64_t> color;
  std::optional<std::string_view> text;  // of a message that is not a registered string
  std::optional<int64_t> thread;         // globalTid
  std::optional<int64_t> end_thread;     // where it is not the same
  std::optional<int64_t> text_id;        // of StringIds: a registered string
  int64_t domain = 0;
  // The payload: at most one.
  std::optional<int64_t> uint64_value;
  std::optional<int64_t> int64_value;
  std::optional<double> double_value;
  std::optional<int64_t> uint32_value;
  std::optional<int64_t> int32_value;
  std::optional<double> float_value;
  std::string_view payloads;  // payload.h; empty: none
  std::optional<int64_t> id;
};

inline constexpr Table kNvtxEvents{
    "NVTX_EVENTS",
    Holds{"nvtx_ranges nvtx_marks nvtx_domains nvtx_categories nvtx_attributes "
          "nvtx_payload_blobs"},
    Start{"start!"},
    End{"end", true},
    Field<&NvtxEventsRow::type>{"eventType!"},
    Unused{"rangeId"},
    Field<&NvtxEventsRow::category>{"category"},
    Field<&NvtxEventsRow::color>{"color"},
    Field<&NvtxEventsRow::text>{"text"},
    Field<&NvtxEventsRow::thread>{"globalTid"},
    Field<&NvtxEventsRow::end_thread>{"endGlobalTid"},
    Field<&NvtxEventsRow::text_id>{"textId"},
    Field<&NvtxEventsRow::domain>{"domainId"},
    Field<&NvtxEventsRow::uint64_value>{"uint64Value"},
    Field<&NvtxEventsRow::int64_value>{"int64Value"},
    Field<&NvtxEventsRow::double_value>{"doubleValue"},
    Field<&NvtxEventsRow::uint32_value>{"uint32Value"},
    Field<&NvtxEventsRow::int32_value>{"int32Value"},
    Field<&NvtxEventsRow::float_value>{"floatValue"},
    Unused{"jsonTextId jsonText:T"},
    BlobField<&NvtxEventsRow::payloads>{"binaryData"},
    Field<&NvtxEventsRow::id>{"eventId!P?"}};

// What a schema or an entry of one belongs to; the file does not name the process.
struct PayloadSchemaKey {
  int64_t domain = 0;
  uint64_t schema_id = 0;
  int64_t index = 0;  // of an entry
};

inline constexpr Table kPayloadSchemas{
    "NVTX_PAYLOAD_SCHEMAS",
    Holds{"nvtx_payload_schemas"},
    Field<&PayloadSchemaKey::domain>{"domainId"},
    Field<&NvtxPayloadSchemasRow::schema_id>{"schemaId"},
    TextField<&NvtxPayloadSchemasRow::name>{"name"},
    Field<&NvtxPayloadSchemasRow::type>{"type"},
    Field<&NvtxPayloadSchemasRow::flags>{"flags"},
    WriteOnly{Field<&NvtxPayloadSchemasRow::entry_count>{"numEntries"}},
    Field<&NvtxPayloadSchemasRow::payload_bytes>{"payloadSize"},
    Unused{"alignTo"}};

inline constexpr Table kPayloadEntries{
    "NVTX_PAYLOAD_SCHEMA_ENTRIES",
    Holds{"nvtx_payload_entries"},
    Field<&PayloadSchemaKey::domain>{"domainId!"},
    Field<&PayloadSchemaKey::schema_id>{"schemaId!"},
    Field<&PayloadSchemaKey::index>{"idx!"},
    Field<&NvtxPayloadEntriesRow::flags>{"flags"},
    Field<&NvtxPayloadEntriesRow::type>{"type"},
    TextField<&NvtxPayloadEntriesRow::name>{"name"},
    TextField<&NvtxPayloadEntriesRow::description>{"description"},
    Field<&NvtxPayloadEntriesRow::array_or_union_detail>{"arrayOrUnionDetail"},
    Field<&NvtxPayloadEntriesRow::offset>{"offset"}};

}  // namespace batchlight::nsys
