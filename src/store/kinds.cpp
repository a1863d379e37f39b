#include "store/kinds.h"

#include <cctype>

namespace batchlight {
namespace {

// clang-format off
#define KIND_BEGIN(Name, type, nsys_enum, doc) constexpr KindRow k##Name##Rows[] = {
#define KIND(Identifier, number, label, short_name, nsys_name) \
  {number, #Identifier, label, short_name, nsys_name},
#define KIND_END(Name) };
// clang-format on
#include "store/kinds.def"
#undef KIND_BEGIN
#undef KIND
#undef KIND_END

constexpr KindTable kKinds[] = {
#define KIND_BEGIN(Name, type, nsys_enum, doc) {#Name, nsys_enum, doc, k##Name##Rows},
#define KIND(Identifier, number, label, short_name, nsys_name)
#define KIND_END(Name)
#include "store/kinds.def"
#undef KIND_BEGIN
#undef KIND
#undef KIND_END
};

// Places in kKinds.
enum Place : size_t {
#define KIND_BEGIN(Name, type, nsys_enum, doc) k##Name##Place,
#define KIND(Identifier, number, label, short_name, nsys_name)
#define KIND_END(Name)
#include "store/kinds.def"
#undef KIND_BEGIN
#undef KIND
#undef KIND_END
};

constexpr KindRow kUnlistedKind = {};

}  // namespace

std::span<const KindTable> AllKinds() { return kKinds; }

#define KIND_BEGIN(Name, type, nsys_enum, doc) \
  template <>                                  \
  const KindTable& TableOf<Name>() {           \
    return kKinds[k##Name##Place];             \
  }
#define KIND(Identifier, number, label, short_name, nsys_name)
#define KIND_END(Name)
#include "store/kinds.def"
#undef KIND_BEGIN
#undef KIND
#undef KIND_END

const KindRow& KindTable::RowOf(uint32_t number) const {
  if (number < rows.size() && rows[number].number == number) return rows[number];
  const KindRow* unknown = &kUnlistedKind;
  for (const KindRow& row : rows) {
    if (row.number == number) return row;
    if (row.identifier == "Unknown") unknown = &row;
  }
  return *unknown;
}

std::string LowerCase(std::string_view label) {
  std::string lower(label);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace batchlight
