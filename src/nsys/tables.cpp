#include "nsys/tables.h"

#include "base/split.h"

namespace batchlight::nsys {
namespace {

std::vector<TableEntry> AllEntries() {
  std::vector<TableEntry> entries;
  VisitSchema([&](const auto& table) {
    entries.push_back({table.name, table.holds, SchemaColumns(table)});
  });
  const auto only_read = [&](const auto&... tables) {
    (entries.push_back({tables.name, tables.holds, ""}), ...);
  };
  only_read(kNicMetrics, kSwitchMetrics, kNetworkMetricNames, kNics, kNicIds);
  for (const RuntimeSource& source : kRuntimeSources) only_read(RuntimeEvents(source.table));
  return entries;
}

}  // namespace

std::span<const TableEntry> Entries() {
  static const std::vector<TableEntry> kEntries = AllEntries();
  return kEntries;
}

std::vector<std::string_view> NamesOf(const Holds& holds) {
  return holds.tables.empty() ? std::vector<std::string_view>() : SplitAt(holds.tables, ' ');
}

}  // namespace batchlight::nsys
