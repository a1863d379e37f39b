#include "inject/nvtx/schema.h"

#include <cstring>

#include "inject/rt/counters.h"

namespace batchlight::inject::nvtx {
namespace {

constexpr size_t kBuckets = 256;
constinit std::atomic<Schema*> g_schemas[kBuckets] = {};
constinit std::atomic<uint64_t> g_next_id{kDynamicSchemaStart};

uint32_t DomainNumber(const Domain* domain) { return domain != nullptr ? domain->id : 0; }

std::atomic<Schema*>& Bucket(uint64_t id) { return g_schemas[(id ^ id >> 24) % kBuckets]; }

const Schema* Find(uint32_t domain, uint64_t id) {
  const Schema* schema = Bucket(id).load(std::memory_order_acquire);
  while (schema != nullptr && (schema->id != id || schema->domain != domain)) {
    schema = schema->next;
  }
  return schema;
}

bool IsCString(uint64_t type) { return type == kTypeCString || type == kTypeCStringUtf8; }

Layout EntryLayout(const Domain* domain, const SchemaEntry& entry) {
  Layout layout = TypeLayout(entry.type);
  const bool fixed_array = (entry.flags & kEntryArrayMask) == kEntryArrayFixed;
  if ((entry.flags & kEntryPointer) != 0) return {sizeof(void*), alignof(void*)};
  if (const Schema* nested = FindSchema(domain, entry.type)) {
    layout = {nested->static_bytes, alignof(void*)};
  }
  if (fixed_array) {
    if (IsCString(entry.type)) layout = {1, 1};  // characters, not pointers
    layout.bytes *= entry.array_or_union_detail;
  }
  return layout;
}

// Fills strings (if not null) and returns how many there are; *end is the payload's size as far as
// natural alignment tells.
uint32_t ScanEntries(const Domain* domain, const SchemaAttributes& attributes, StringField* strings,
                     size_t* end) {
  uint32_t count = 0;
  size_t at = 0;
  for (size_t i = 0; i < attributes.entry_count; ++i) {
    const SchemaEntry& entry = attributes.entries[i];
    const Layout layout = EntryLayout(domain, entry);
    const size_t align = layout.align != 0 ? layout.align : 1;
    const size_t offset =
        entry.offset != 0 || i == 0 ? entry.offset : (at + align - 1) / align * align;
    at = offset + layout.bytes;
    if (at > *end) *end = at;
    const bool text = IsCString(entry.type) || entry.type == kTypeChar;
    if (!text && entry.type != kTypeRegisteredString) continue;
    const bool fixed_array = (entry.flags & kEntryArrayMask) == kEntryArrayFixed;
    const bool is_message = (entry.flags & kEntryEventMessage) != 0;
    if (entry.type == kTypeChar && !is_message) continue;
    if (strings != nullptr) {
      strings[count] = {entry.type, offset, static_cast<uint32_t>(layout.bytes),
                        entry.type == kTypeRegisteredString      ? StringField::kHandle
                        : fixed_array || entry.type == kTypeChar ? StringField::kInline
                                                                 : StringField::kPointer,
                        is_message};
    }
    ++count;
  }
  return count;
}

}  // namespace

Layout TypeLayout(uint64_t type) {
  // By number from 1: C integers, fixed integers, floating point, size, address, characters.
  static constexpr uint8_t kBasic[kTypeLastBasic + 1] = {0, 1, 1, 2, 2, 4, 4, 8,  8, 8, 8, 1, 1, 2,
                                                         2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 4, 1, 2, 4};
  size_t bytes = 0;
  if (type <= kTypeLastBasic) {
    bytes = kBasic[type];
  } else {
    switch (type) {
      case 32:  // byte
        bytes = 1;
        break;
      case 42:  // float16
      case 50:  // bf16
        bytes = 2;
        break;
      case 43:  // float32
      case 52:  // tf32
      case 68:  // category
      case 69:  // color
      case 71:  // pid, 32 bits
      case 73:  // tid, 32 bits
        bytes = 4;
        break;
      case 44:  // float64
      case 70:  // scope
      case 72:  // pid, 64 bits
      case 74:  // tid, 64 bits
      case 75:  // C strings: pointers
      case 76:
      case 77:
      case 78:
      case 80:  // registered string
        bytes = 8;
        break;
      case 33:  // int128
      case 34:
      case 45:  // float128
        bytes = 16;
        break;
      default:
        break;
    }
  }
  return {bytes, bytes};
}

const Schema* FindSchema(const Domain* domain, uint64_t id) {
  return id < kStaticSchemaStart ? nullptr : Find(DomainNumber(domain), id);
}

uint64_t NewSchemaId() { return g_next_id.fetch_add(1, std::memory_order_relaxed); }

uint64_t RememberSchema(const Domain* domain, const SchemaAttributes& attributes, bool* is_new) {
  *is_new = false;
  size_t end = 0;
  const uint32_t string_count = ScanEntries(domain, attributes, nullptr, &end);
  const size_t static_bytes = attributes.static_size != 0 ? attributes.static_size : end;
  Locked locked(RegistryLock());
  if (!locked) return 0;
  if (attributes.schema_id != 0) {  // each copy of a library's header registers its schemas
    const Schema* known = Find(DomainNumber(domain), attributes.schema_id);
    if (known != nullptr && known->entry_count == attributes.entry_count &&
        known->static_bytes == static_bytes) {
      return known->id;
    }
  }
  auto* schema =
      static_cast<Schema*>(Allocate(sizeof(Schema) + string_count * sizeof(StringField)));
  if (schema == nullptr) {
    AddCounter(format::Counter::kEventsDroppedBudget);
    return 0;
  }
  schema->id = attributes.schema_id != 0 ? attributes.schema_id : NewSchemaId();
  schema->domain = DomainNumber(domain);
  schema->string_count = string_count;
  schema->static_bytes = static_bytes;
  schema->entry_count = attributes.entry_count;
  ScanEntries(domain, attributes, schema->strings, &end);
  std::atomic<Schema*>& bucket = Bucket(schema->id);
  schema->next = bucket.load(std::memory_order_relaxed);
  bucket.store(schema, std::memory_order_release);
  *is_new = true;
  return schema->id;
}

}  // namespace batchlight::inject::nvtx
