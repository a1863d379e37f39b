#include "inject/nvtx/payload.h"

#include <atomic>
#include <cstring>

#include "inject/buffer/facts.h"
#include "inject/nvtx/schema.h"

namespace batchlight::inject::nvtx {
namespace {

using format::PayloadBlobRecord;

struct Bytes {
  const void* data;
  size_t count;
};

Bytes CString(const void* text) {
  const auto* characters = static_cast<const char*>(text);
  return {text, text != nullptr ? strnlen(characters, format::kMaxStringBytes) : 0};
}

Bytes BlobBytes(const Schema* schema, const PayloadData& data) {
  if (data.payload == nullptr) return {nullptr, 0};
  if (data.size != kUnknownSize) return {data.payload, data.size};
  if (schema != nullptr) return {data.payload, schema->static_bytes};
  if (data.schema_id == kTypeCString || data.schema_id == kTypeCStringUtf8) {
    return CString(data.payload);
  }
  return {data.payload, TypeLayout(data.schema_id).bytes};
}

// What a string field of a payload holds: text inside it, or behind a pointer or handle.
Bytes FieldBytes(const StringField& field, const Bytes& blob) {
  if (blob.data == nullptr || field.offset > blob.count ||
      blob.count - field.offset < field.bytes) {
    return {nullptr, 0};
  }
  const char* at = static_cast<const char*>(blob.data) + field.offset;
  if (field.kind == StringField::kInline) return {at, strnlen(at, field.bytes)};
  const void* pointer;
  std::memcpy(&pointer, at, sizeof pointer);
  if (field.kind == StringField::kPointer || pointer == nullptr) return CString(pointer);
  const Name& name = static_cast<const RegisteredString*>(pointer)->name;
  return {name.text, name.bytes};
}

void WriteBlob(ThreadStream& stream, uint64_t schema_id, const Bytes& bytes) {
  const auto full = bytes.count < UINT32_MAX ? static_cast<uint32_t>(bytes.count) : UINT32_MAX;
  stream.WriteWithBytes(PayloadBlobRecord{.schema_id = schema_id, .full_byte_count = full},
                        bytes.data, bytes.count);
}

// Calls visit(schema_id, bytes) for each blob and, after it, each string it points to.
template <class Visit>
void ForEachBlob(const Domain* domain, const PayloadData* data, size_t count, Visit visit) {
  for (size_t i = 0; i < count; ++i) {
    const Schema* schema = FindSchema(domain, data[i].schema_id);
    const Bytes blob = BlobBytes(schema, data[i]);
    visit(data[i].schema_id, blob);
    if (schema == nullptr || blob.count == 0) continue;
    for (uint32_t field = 0; field < schema->string_count; ++field) {
      const StringField& string = schema->strings[field];
      if (string.kind != StringField::kInline) visit(string.type, FieldBytes(string, blob));
    }
  }
}

}  // namespace

size_t BlobsBytes(const Domain* domain, const PayloadData* data, size_t count) {
  size_t total = 0;
  ForEachBlob(domain, data, count, [&](uint64_t, const Bytes& bytes) {
    total += BytesRecordBytes(sizeof(PayloadBlobRecord), bytes.count);
  });
  return total;
}

void WriteBlobs(ThreadStream& stream, const Domain* domain, const PayloadData* data, size_t count) {
  ForEachBlob(domain, data, count,
              [&](uint64_t schema_id, const Bytes& bytes) { WriteBlob(stream, schema_id, bytes); });
}

bool MessageOfPayload(const Domain* domain, const PayloadData* data, size_t count, Name* message) {
  for (size_t i = 0; i < count; ++i) {
    const Schema* schema = FindSchema(domain, data[i].schema_id);
    if (schema == nullptr) continue;
    for (uint32_t field = 0; field < schema->string_count; ++field) {
      if (!schema->strings[field].is_message) continue;
      const Bytes text = FieldBytes(schema->strings[field], BlobBytes(schema, data[i]));
      if (text.count == 0) continue;
      *message = MakeName(static_cast<const char*>(text.data), text.count);
      return true;
    }
  }
  return false;
}

}  // namespace batchlight::inject::nvtx
