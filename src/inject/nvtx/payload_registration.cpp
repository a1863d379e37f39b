// nvtxPayloadSchemaRegister and nvtxPayloadEnumRegister: into the recording as they are.
#include <cstring>

#include "inject/buffer/facts.h"
#include "inject/nvtx/domain_field.h"
#include "inject/nvtx/payload.h"
#include "inject/nvtx/schema.h"

namespace batchlight::inject::nvtx {
namespace {

using format::PayloadEnumEntryRecord;
using format::PayloadEnumRecord;
using format::PayloadSchemaEntryRecord;
using format::PayloadSchemaRecord;

FactString Field(size_t offset, const char* text) {
  return {offset, text != nullptr ? text : "", text != nullptr ? std::strlen(text) : 0};
}

// Only what the mask says is set; the rest zero.
SchemaAttributes Known(const SchemaAttributes& given) {
  const uint64_t mask = given.field_mask;
  SchemaAttributes known = {};
  if ((mask & kSchemaName) != 0) known.name = given.name;
  if ((mask & kSchemaType) != 0) known.type = given.type;
  if ((mask & kSchemaFlags) != 0) known.flags = given.flags;
  if ((mask & kSchemaEntries) != 0) known.entries = given.entries;
  if ((mask & kSchemaEntryCount) != 0) known.entry_count = given.entry_count;
  if ((mask & kSchemaStaticSize) != 0) known.static_size = given.static_size;
  if ((mask & kSchemaId) != 0) known.schema_id = given.schema_id;
  if (known.entries == nullptr) known.entry_count = 0;
  return known;
}

}  // namespace

uint64_t RegisterSchema(const Domain* domain, const SchemaAttributes* given) {
  Guard guard;
  if (!guard || given == nullptr) return 0;
  const SchemaAttributes attributes = Known(*given);
  bool is_new = false;
  const uint64_t id = RememberSchema(domain, attributes, &is_new);
  if (id == 0 || !is_new) return id;
  FactGroup group(guard);
  group.Add(PayloadSchemaRecord{.schema_id = id,
                                .type = static_cast<uint32_t>(attributes.type),
                                .entry_count = static_cast<uint32_t>(attributes.entry_count),
                                .flags = attributes.flags,
                                .payload_bytes = attributes.static_size},
            {DomainField(offsetof(PayloadSchemaRecord, domain), domain),
             Field(offsetof(PayloadSchemaRecord, name), attributes.name)});
  for (size_t i = 0; i < attributes.entry_count; ++i) {
    const SchemaEntry& entry = attributes.entries[i];
    group.Add(PayloadSchemaEntryRecord{.flags = entry.flags,
                                       .type = entry.type,
                                       .array_or_union_detail = entry.array_or_union_detail,
                                       .offset = entry.offset},
              {Field(offsetof(PayloadSchemaEntryRecord, name), entry.name),
               Field(offsetof(PayloadSchemaEntryRecord, description), entry.description)});
  }
  return id;
}

uint64_t RegisterEnum(const Domain* domain, const EnumAttributes* given) {
  Guard guard;
  if (!guard || given == nullptr) return 0;
  const uint64_t mask = given->field_mask;
  const bool has_entries = (mask & kEnumEntries) != 0 && given->entries != nullptr;
  const size_t count = has_entries && (mask & kEnumEntryCount) != 0 ? given->entry_count : 0;
  const uint64_t own_id = (mask & kEnumId) != 0 ? given->schema_id : 0;
  const uint64_t id = own_id != 0 ? own_id : NewSchemaId();
  const size_t size = (mask & kEnumSize) != 0 ? given->enum_size : 0;
  FactGroup group(guard);
  group.Add(
      PayloadEnumRecord{.schema_id = id,
                        .entry_count = static_cast<uint32_t>(count),
                        .size_bytes = static_cast<uint32_t>(size)},
      {DomainField(offsetof(PayloadEnumRecord, domain), domain),
       Field(offsetof(PayloadEnumRecord, name), (mask & kEnumName) != 0 ? given->name : nullptr)});
  for (size_t i = 0; i < count; ++i) {
    const EnumEntry& entry = given->entries[i];
    group.Add(PayloadEnumEntryRecord{.value = entry.value, .is_flag = entry.is_flag != 0 ? 1u : 0u},
              {Field(offsetof(PayloadEnumEntryRecord, name), entry.name)});
  }
  return id;
}

}  // namespace batchlight::inject::nvtx
