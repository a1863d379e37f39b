#include "export/table_names.h"

#include <algorithm>
#include <cctype>

#include "nsys/enums.h"
#include "nsys/foreign_tables.h"
#include "nsys/own_tables.h"
#include "nsys/tables.h"
#include "store/store.h"

namespace batchlight {
namespace {

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  Store().VisitTables([&](const auto& table) {
    names.emplace_back(table.kName);
    if (nsys::IsOwnTable(table.kName)) names.push_back(nsys::OwnTableName(table.kName));
  });
  for (const nsys::TableEntry& table : nsys::Entries()) names.emplace_back(table.name);
  for (const nsys::ForeignTable& table : nsys::kForeignTables) names.emplace_back(table.name);
  for (const nsys::Enum& table : nsys::Enums()) names.emplace_back(table.table);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::vector<std::string> OtherTableNames(std::string_view name) {
  std::vector<std::string> others;
  for (const nsys::TableEntry& table : nsys::Entries()) {
    for (const std::string_view ours : nsys::NamesOf(table.holds)) {
      if (ours == name) others.emplace_back(table.name);
      if (table.name == name) others.emplace_back(ours);
    }
  }
  if (name.starts_with(nsys::kOwnTablePrefix)) {
    std::string own(name.substr(nsys::kOwnTablePrefix.size()));
    std::transform(own.begin(), own.end(), own.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    others.push_back(own);
  } else if (nsys::IsOwnTable(name)) {
    others.push_back(nsys::OwnTableName(name));
  }
  return others;
}

const std::vector<std::string>& KnownTableNames() {
  static const std::vector<std::string> kNames = AllNames();
  return kNames;
}

}  // namespace batchlight
