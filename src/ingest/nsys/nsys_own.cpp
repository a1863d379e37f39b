// The BATCHLIGHT_* tables of an export of ours: what nsys has no tables for, read back unchanged.
#include <algorithm>
#include <type_traits>
#include <unordered_map>

#include "ingest/nsys/nsys_load.h"
#include "nsys/own_tables.h"
#include "nsys/source_format.h"
#include "store/row_order.h"

namespace batchlight::nsys {
namespace {

// An import fills these two from nsys's own tables first; what ours say is added afterwards.
constexpr std::string_view kOwnProcesses = "processes";
constexpr std::string_view kOwnThreads = "threads";

// The number of rows in the table that an id refers to.
template <typename RowId>
size_t RowsBehind(const Store& store) {
  size_t rows = 0;
  store.VisitTables([&]<typename Table>(const Table& table) {
    if constexpr (std::is_same_v<RowIdOf<Table>, RowId>) rows = table.size();
  });
  return rows;
}

template <typename Value>
[[gnu::noinline]] void ReadValue(Load& load, NsysTable& rows, int column, std::string_view name,
                                 std::vector<Value>& values) {
  if constexpr (std::is_same_v<Value, StringId>) {
    values.push_back(load.String(rows, column));
  } else if constexpr (std::is_same_v<Value, ThreadId>) {
    values.push_back(load.Thread(rows, column));
  } else if constexpr (std::is_same_v<Value, ProcessId>) {
    values.push_back(load.Process(rows, column));
  } else if constexpr (requires(Value v) { v.IsNone(); }) {
    const int64_t row = rows.Int(column, -1);
    const bool known = row >= 0 && row < UINT32_MAX;
    values.push_back(known ? Value::At(static_cast<size_t>(row)) : Value::None());
  } else if constexpr (std::is_floating_point_v<Value>) {
    values.push_back(rows.Real(column));
  } else if constexpr (std::is_same_v<Value, int64_t>) {
    values.push_back(rows.Int(column, name == "end_ns" ? kOpenEnd : 0));
  } else {
    values.push_back(static_cast<Value>(rows.Int(column)));
  }
}

// Rows that the export left out shift the numbers of the rows after them: row i was row
// `old_rows[i]`.
template <typename Table>
void FollowMissingRows(Table& table, const std::vector<int64_t>& old_rows) {
  if constexpr (requires { table.parent; }) {
    for (auto& parent : table.parent) {
      if constexpr (!std::is_same_v<std::decay_t<decltype(parent)>, ProcessId>) {
        if (parent.IsNone()) continue;
        const auto old_row = static_cast<int64_t>(parent.row());
        const auto place = std::lower_bound(old_rows.begin(), old_rows.end(), old_row);
        parent =
            place == old_rows.end() || *place != old_row
                ? std::decay_t<decltype(parent)>::None()
                : std::decay_t<decltype(parent)>::At(static_cast<size_t>(place - old_rows.begin()));
      }
    }
  }
}

template <typename Table>
bool IsPossibleRow(const Table& table, const std::vector<std::string_view>& names, NsysTable& rows,
                   RowChecks& checks) {
  (void)table;
  const auto place_of = [&](std::string_view name) {
    return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  if constexpr (requires { table.start_ns; }) {
    if constexpr (requires { table.end_ns; }) {
      if (!checks.ReadTimes(place_of("start_ns"), place_of("end_ns"))) return false;
    } else {
      if (!checks.ReadInstant(place_of("start_ns"))) return false;
    }
  }
  if constexpr (requires { table.bytes; }) {
    // This column may also hold text: the bytes of a payload.
    if constexpr (std::is_integral_v<typename std::decay_t<decltype(table.bytes)>::value_type>) {
      return checks.TakeBytes(rows.Int(place_of("bytes")));
    }
  }
  return true;
}

// "row", then the columns of schema.def.
template <typename Table>
std::vector<std::string_view> ColumnNames(const Table& table) {
  std::vector<std::string_view> names = {"row"};
  table.VisitColumns(
      [&](std::string_view name, std::string_view, const auto&) { names.emplace_back(name); });
  return names;
}

template <typename Table>
Result<NsysTable> OpenOwnTable(const NsysDatabase& database, const Table& table) {
  const std::vector<std::string_view> names = ColumnNames(table);
  return NsysTable::Open(database, OwnTableName(table.kName),
                         std::vector<Spelling>(names.begin(), names.end()));
}

template <typename Table>
void AppendRow(Load& load, NsysTable& rows, Table& table) {
  int column = 1;
  table.VisitColumns([&](std::string_view name, std::string_view, auto& values) {
    ReadValue(load, rows, column++, name, values);
  });
}

// All rows of a table; the processes that they name are the load's. Empty where the file has none.
template <typename Table>
Status ReadTable(const NsysDatabase& database, const Strings& strings, Store& store, Load& load,
                 Table& table) {
  load.database = &database;
  load.strings = &strings;
  load.store = &store;
  ASSIGN_OR_RETURN(NsysTable rows, OpenOwnTable(database, table));
  while (rows.Next()) AppendRow(load, rows, table);
  return rows.status();
}

template <typename Table>
Status LoadTable(Load& load, Table& table) {
  if (!IsOwnTable(table.kName) || table.kName == kOwnProcesses || table.kName == kOwnThreads) {
    return Status();
  }
  const std::vector<std::string_view> names = ColumnNames(table);
  ASSIGN_OR_RETURN(NsysTable rows, OpenOwnTable(*load.database, table));
  if (!rows.exists()) return Status();
  load.store->source_format = kOwnFormat;
  table.Clear();
  std::vector<int64_t> old_rows;
  RowChecks checks(rows);
  while (rows.Next()) {
    if (!IsPossibleRow(table, names, rows, checks)) continue;
    old_rows.push_back(rows.Int(0));
    AppendRow(load, rows, table);
  }
  RETURN_IF_ERROR(checks.Done(load));
  if (!std::is_sorted(old_rows.begin(), old_rows.end())) {
    return InputError(load.database->path() + ": table " + rows.name() +
                      ": rows are not in the order of column row");
  }
  FollowMissingRows(table, old_rows);
  const auto remember = [](auto& columns, auto& values) {  // once: a table of nsys may have, too
    if (std::find(columns.begin(), columns.end(), &values) == columns.end()) {
      columns.push_back(&values);
    }
  };
  table.VisitColumns([&](std::string_view, std::string_view, auto& values) {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    if constexpr (std::is_same_v<Value, ThreadId>) remember(load.thread_columns, values);
    if constexpr (std::is_same_v<Value, ProcessId>) remember(load.process_columns, values);
  });
  return Status();
}

template <typename Value>
[[gnu::noinline]] void DropDanglingIds(std::string_view name, size_t count,
                                       std::vector<Value>& values) {
  for (size_t row = 0; row < values.size(); ++row) {
    Value& value = values[row];
    // A parent must come before its children; any other order could hide a cycle.
    const size_t limit = name == "parent" ? std::min(count, row) : count;
    if (!value.IsNone() && value.row() >= limit) value = Value::None();
  }
}

// The file is not trusted: references to rows that do not exist become None.
template <typename Table>
void DropDanglingRows(const Store& store, Table& table) {
  if (!IsOwnTable(table.kName)) return;
  table.VisitColumns([&](std::string_view name, std::string_view, auto& values) {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    (void)name;
    if constexpr (!std::is_same_v<Value, StringId> && !std::is_same_v<Value, ThreadId> &&
                  !std::is_same_v<Value, ProcessId> && requires(Value v) { v.IsNone(); }) {
      DropDanglingIds(name, RowsBehind<Value>(store), values);
    }
  });
  if constexpr (requires { table.depth; }) {
    for (size_t row = 0; row < table.size(); ++row) {
      auto& parent = table.parent[row];
      if (parent.IsNone()) continue;
      const size_t above = parent.row();
      const bool encloses =
          table.thread[above] == table.thread[row] && table.depth[above] < table.depth[row];
      if (!encloses) parent = {};
    }
  }
}

}  // namespace

Status LoadOwnTables(Load& load) {
  Status status;
  load.store->VisitTables([&](auto& table) {
    if (status.ok()) status = LoadTable(load, table);
  });
  RETURN_IF_ERROR(std::move(status));
  load.store->VisitTables([&](auto& table) { DropDanglingRows(*load.store, table); });
  return Status();
}

Result<std::vector<OwnThread>> ReadOwnThreads(const NsysDatabase& database, const Strings& strings,
                                              Store& store) {
  Load load;
  ThreadsTable own;
  RETURN_IF_ERROR(ReadTable(database, strings, store, load, own));
  std::vector<OwnThread> threads;
  for (size_t row = 0; row < own.size(); ++row) {
    if (own.process[row].IsNone()) continue;
    const int64_t process = load.processes.all()[own.process[row].row()];
    threads.push_back({.global = GlobalTid(process, own.tid[row]),
                       .start_ns = PossibleTimeOr(own.start_ns[row], 0),
                       .end_ns = PossibleTimeOr(own.end_ns[row], kOpenEnd)});
  }
  return threads;
}

Status CompleteProcesses(const NsysDatabase& database, const Strings& strings, Store& store) {
  Load load;  // its processes are the parents
  ProcessesTable own;
  RETURN_IF_ERROR(ReadTable(database, strings, store, load, own));

  std::vector<ProcessesRow> processes;
  std::unordered_map<int64_t, size_t> by_global;
  for (size_t row = 0; row < store.processes.size(); ++row) {
    processes.push_back(store.processes.Row(row));
    by_global[static_cast<int64_t>(processes[row].native_global_id)] = row;
  }
  const auto row_of = [&](int64_t global) {
    const auto place = by_global.find(global);
    return place == by_global.end() ? ProcessId::None() : ProcessId::At(place->second);
  };
  for (size_t i = 0; i < own.size(); ++i) {
    ProcessesRow row = own.Row(i);
    const auto native = static_cast<int64_t>(row.native_global_id);
    const ProcessId known = row_of(native == 0 ? GlobalPid(row.pid) : native);
    if (known.IsNone()) continue;
    ProcessesRow& united = processes[known.row()];
    row.pid = united.pid;
    row.native_global_id = united.native_global_id;
    if (!row.parent.IsNone()) row.parent = row_of(load.processes.all()[row.parent.row()]);
    row.start_ns = PossibleTimeOr(row.start_ns, 0);
    row.end_ns = PossibleTimeOr(row.end_ns, kOpenEnd);
    united = row;
  }
  store.processes.Clear();
  for (const ProcessesRow& row : processes) store.processes.Append(row);
  return Status();
}

}  // namespace batchlight::nsys
