#include "nsys/own_tables.h"

#include <algorithm>

#include "nsys/tables.h"

namespace batchlight::nsys {

bool IsOwnTable(std::string_view name) {
  for (const TableEntry& entry : Entries()) {
    const std::vector<std::string_view> names = NamesOf(entry.holds);
    const bool held = std::find(names.begin(), names.end(), name) != names.end();
    if (held && entry.holds.whole) return false;
  }
  return true;
}

std::string OwnTableName(std::string_view name) {
  std::string table(kOwnTablePrefix);
  for (const char c : name) table += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return table;
}

}  // namespace batchlight::nsys
