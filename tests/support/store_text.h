// The tables of a store as text, for goldens: a line a row. Values that are 0 or absent are left
// out, so that a new column changes no golden.
#pragma once

#include <string>

#include "ingest/common/quoted_text.h"
#include "store/store.h"

namespace batchlight::testing_support {

inline void AppendCell(const Store& store, StringId id, std::string& out) {
  AppendQuoted(store.Text(id), out);
}
template <typename Tag>
void AppendCell(const Store&, Id<Tag> id, std::string& out) {
  out += "#" + std::to_string(id.value);
}
template <typename T>
requires std::is_arithmetic_v<T>
void AppendCell(const Store&, T value, std::string& out) {
  const bool open = std::is_same_v<T, int64_t> && static_cast<int64_t>(value) == kOpenEnd;
  out += open ? "open" : std::to_string(value);
}

template <typename T>
requires std::is_enum_v<T>
void AppendCell(const Store&, T value, std::string& out) { out += std::to_string(Number(value)); }

inline std::string StoreText(const Store& store) {
  std::string out = "start_utc_ns " + std::to_string(store.session_start_utc_ns) +
                    "\nduration_ns " + std::to_string(store.duration_ns) + "\n";
  store.VisitTables([&](const auto& table) {
    if (table.size() == 0) return;
    out += "\n" + std::string(table.kName) + "\n";
    for (size_t row = 0; row < table.size(); ++row) {
      out += "#" + std::to_string(row);
      table.VisitColumns([&](std::string_view name, std::string_view, const auto& column) {
        using T = std::decay_t<decltype(column[row])>;
        if (column[row] == T{}) return;
        out += " " + std::string(name) + "=";
        AppendCell(store, column[row], out);
      });
      out += '\n';
    }
  });
  return out;
}

}  // namespace batchlight::testing_support
