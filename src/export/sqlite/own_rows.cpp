// The BATCHLIGHT_* tables: nsys/own_tables.h.
#include <type_traits>

#include "export/sqlite/nsys_writer.h"
#include "export/store_rows.h"
#include "nsys/own_tables.h"

namespace batchlight {
namespace {

template <typename Value>
void PutOwnValue(NsysWriter& writer, SqliteInsert& insert, std::string_view name, Value value) {
  if constexpr (std::is_same_v<Value, StringId>) {
    if (value.IsNone()) {
      insert.Null();
    } else {
      insert.Int(writer.String(value));
    }
  } else if constexpr (std::is_same_v<Value, ThreadId>) {
    insert.IntOrNull(!value.IsNone(), writer.GlobalTid(value));
  } else if constexpr (std::is_same_v<Value, ProcessId>) {
    insert.IntOrNull(!value.IsNone(), writer.GlobalPid(value));
  } else if constexpr (requires { value.IsNone(); }) {
    insert.IntOrNull(!value.IsNone(), static_cast<int64_t>(value.row()));
  } else if constexpr (std::is_floating_point_v<Value>) {
    insert.Real(value);
  } else if constexpr (std::is_same_v<Value, int64_t>) {
    const bool is_time = IsMoment(name);
    insert.IntOrNull(!is_time || value != kOpenEnd, is_time ? writer.Time(value) : value);
  } else {
    insert.Int(static_cast<int64_t>(value));
  }
}

template <typename Table>
Status WriteTable(NsysWriter& writer, const Table& table) {
  std::string shape = "row!P";
  std::string columns = "row";
  table.VisitColumns([&](std::string_view name, std::string_view, const auto& column) {
    using Value = typename std::decay_t<decltype(column)>::value_type;
    shape += ' ' + std::string(name) + (std::is_floating_point_v<Value> ? ":R" : "");
    columns += ' ' + std::string(name);
  });
  const std::string name = nsys::OwnTableName(table.kName);
  return writer.OwnTable(name, shape, columns, [&](SqliteInsert& insert) {
    for (size_t row = 0; row < table.size(); ++row) {
      if (!SelectsRow(writer.options.selection, table, row)) continue;
      insert.Int(static_cast<int64_t>(row));
      table.VisitColumns([&](std::string_view column_name, std::string_view, const auto& column) {
        PutOwnValue(writer, insert, column_name, column[row]);
      });
      insert.Done();
    }
  });
}

}  // namespace

Status WriteOwnTables(NsysWriter& writer) {
  Status status;
  writer.store.VisitTables([&](const auto& table) {
    if (!status.ok() || !nsys::IsOwnTable(table.kName) || table.size() == 0) return;
    status = WriteTable(writer, table);
  });
  return status;
}

}  // namespace batchlight
