#include "export/nsys_enums.h"

#include "store/kinds.h"

namespace batchlight {
namespace {

void AddValue(std::vector<NsysEnum>& enums, std::string_view table, const NsysEnumValue& value) {
  if (enums.empty() || enums.back().table != table) enums.push_back({table, {}});
  enums.back().values.push_back(value);
}

void AddKind(std::vector<NsysEnum>& enums, const KindTable& kind) {
  for (const KindRow& row : kind.rows) {
    if (row.nsys_name.empty()) continue;
    AddValue(enums, kind.nsys_enum, {row.number, row.nsys_name, row.label});
  }
}

}  // namespace

std::vector<NsysEnum> NsysEnums() {
  std::vector<NsysEnum> enums;
#define ENUM_VALUE(table, id, name, label) AddValue(enums, #table, {id, name, label});
#define ENUM_KIND(Kind) AddKind(enums, TableOf<Kind>());
#include "export/nsys_enums.def"
#undef ENUM_VALUE
#undef ENUM_KIND
  return enums;
}

}  // namespace batchlight
