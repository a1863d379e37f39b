// The coded values of the store's columns, expanded from kinds.def: for each kind an enum class as
// wide as its column, and the texts of its values.
//
//   Number(CopyKind::kHostToDevice)     1
//   Label(CopyKind::kHostToDevice)      "Host-to-Device", for people
//   ShortName(CopyKind::kHostToDevice)  "HtoD"
//   NsysName(CopyKind::kHostToDevice)   "CUDA_MEMCPY_KIND_HTOD"
//
// Columns keep numbers from foreign files that are not in kinds.def. Such a value is no enumerator
// and has the texts of the row Unknown, or empty ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace batchlight {

using i32 = int32_t;
using i64 = int64_t;
using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using f64 = double;

// clang-format off
#define KIND_BEGIN(Name, type, nsys_enum, doc) enum class Name : type {
#define KIND(Identifier, number, label, short_name, nsys_name) k##Identifier = number,
#define KIND_END(Name) };
// clang-format on
#include "store/kinds.def"
#undef KIND_BEGIN
#undef KIND
#undef KIND_END

// A value of a kind.
struct KindRow {
  uint32_t number;
  std::string_view identifier;  // "HostToDevice"
  std::string_view label;
  std::string_view short_name;
  std::string_view nsys_name;  // empty: nsys has no name for it
};

struct KindTable {
  std::string_view name;       // "CopyKind"
  std::string_view nsys_enum;  // "ENUM_CUDA_MEMCPY_OPER"; empty: nsys has no such table
  std::string_view doc;
  std::span<const KindRow> rows;

  const KindRow& RowOf(uint32_t number) const;
};

std::span<const KindTable> AllKinds();  // in the order of kinds.def

template <typename Kind>
inline constexpr bool kIsKind = false;
template <typename Kind>
const KindTable& TableOf();

#define KIND_BEGIN(Name, type, nsys_enum, doc) \
  template <>                                  \
  inline constexpr bool kIsKind<Name> = true;  \
  template <>                                  \
  const KindTable& TableOf<Name>();
#define KIND(Identifier, number, label, short_name, nsys_name)
#define KIND_END(Name)
#include "store/kinds.def"
#undef KIND_BEGIN
#undef KIND
#undef KIND_END

template <typename T>
concept KindOfValue = kIsKind<T>;

template <KindOfValue Kind>
constexpr std::underlying_type_t<Kind> Number(Kind kind) {
  return static_cast<std::underlying_type_t<Kind>>(kind);
}

template <KindOfValue Kind>
const KindRow& RowOf(Kind kind) {
  return TableOf<Kind>().RowOf(Number(kind));
}
template <KindOfValue Kind>
std::string_view Label(Kind kind) {
  return RowOf(kind).label;
}
template <KindOfValue Kind>
std::string_view ShortName(Kind kind) {
  return RowOf(kind).short_name;
}
template <KindOfValue Kind>
std::string_view NsysName(Kind kind) {
  return RowOf(kind).nsys_name;
}

// The label as it stands within a sentence: "pageable".
std::string LowerCase(std::string_view label);
template <KindOfValue Kind>
std::string LabelInSentence(Kind kind) {
  return LowerCase(Label(kind));
}

// The first value with this label; `otherwise` if none has it.
template <KindOfValue Kind>
Kind KindWithLabel(std::string_view label, Kind otherwise) {
  for (const KindRow& row : TableOf<Kind>().rows) {
    if (row.label == label) return static_cast<Kind>(row.number);
  }
  return otherwise;
}

constexpr YesNo ToYesNo(bool is) { return is ? YesNo::kYes : YesNo::kNo; }
constexpr bool IsYes(YesNo value) { return value != YesNo::kNo; }

// The driver makes these copies for unified memory, in no stream.
constexpr bool IsUnified(CopyKind kind) {
  return kind == CopyKind::kUnifiedHostToDevice || kind == CopyKind::kUnifiedDeviceToHost ||
         kind == CopyKind::kUnifiedDeviceToDevice;
}

// Memory that only the CPU has. Managed memory counts as the GPU's.
constexpr bool IsOfCpu(MemoryKind kind) {
  return kind == MemoryKind::kPageable || kind == MemoryKind::kPinned;
}

}  // namespace batchlight
