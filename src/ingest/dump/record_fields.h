// Visits the fields of a record struct by name and kind: what the text form expands from.
#pragma once

#include <string_view>
#include <type_traits>

#include "format/records.h"

namespace batchlight {

// In the structs StringRef is an alias of u32; here the two are distinguished.
struct StringField {};
template <typename T>
struct NumberField {};

namespace field_kinds {
using u8 = NumberField<uint8_t>;
using u16 = NumberField<uint16_t>;
using u32 = NumberField<uint32_t>;
using u64 = NumberField<uint64_t>;
using i32 = NumberField<int32_t>;
using i64 = NumberField<int64_t>;
using f64 = NumberField<double>;
using StringRef = StringField;
}  // namespace field_kinds

// Records marked "+ bytes" are followed by `byte_count` bytes.
constexpr bool HasBytes(std::string_view doc) { return doc.find("+ bytes") != doc.npos; }

// visit(kind tag, name, field) for each field of the record.
#define RECORD_BEGIN(Name, number, since, doc)                                                 \
  template <typename Record, typename Visitor>                                                 \
  requires std::is_same_v<std::remove_const_t<Record>, format::Name##Record> void VisitFields( \
      [[maybe_unused]] Record& record, [[maybe_unused]] Visitor&& visit) {
#define FIELD(type, name, doc) visit(field_kinds::type{}, std::string_view(#name), record.name);
#define RECORD_END(Name) }
#include "format/records.def"
#undef RECORD_BEGIN
#undef FIELD
#undef RECORD_END

}  // namespace batchlight
