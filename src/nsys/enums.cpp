#include "nsys/enums.h"

#include "store/kinds.h"

namespace batchlight::nsys {
namespace {

Enum OfKind(const KindTable& kind) {
  Enum table{kind.nsys_enum, {}};
  for (const KindRow& row : kind.rows) {
    if (!row.nsys_name.empty()) table.values.push_back({row.number, row.nsys_name, row.label});
  }
  return table;
}

}  // namespace

std::vector<Enum> Enums() {
  std::vector<Enum> enums;
  // clang-format off
#define ENUM_BEGIN(Name, table) enums.push_back({#table, {
#define ENUM_VALUE(Identifier, number, name, label) {number, name, label},
#define ENUM_END(Name) }});
#define ENUM_KIND(Kind) enums.push_back(OfKind(TableOf<Kind>()));
  // clang-format on
#include "nsys/enums.def"
#undef ENUM_BEGIN
#undef ENUM_VALUE
#undef ENUM_END
#undef ENUM_KIND
  return enums;
}

}  // namespace batchlight::nsys
