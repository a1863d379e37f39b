// Rows of nsys's tables, read by the lists of columns in nsys/*_tables.h: each column's kind and
// the type of its member say how it is read, at compile time.
//
//   return LoadRows(load, load.store->memsets, kMemset, KeepRow());
#pragma once

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ingest/nsys/nsys_load.h"
#include "nsys/table.h"

namespace batchlight::nsys {

struct NoRow {};

// The usual last step of a row: nothing.
struct KeepRow {
  template <typename Row, typename Other>
  void operator()(Row&, const Other&) const {}
};

template <typename Value>
Value ReadValue(Load& load, NsysTable& rows, int place, int64_t if_absent) {
  if constexpr (kIsOptional<Value>) {
    if (rows.IsNull(place)) return std::nullopt;
    return ReadValue<typename Value::value_type>(load, rows, place, if_absent);
  } else if constexpr (std::is_same_v<Value, ProcessId>) {
    return load.Process(rows, place);
  } else if constexpr (std::is_same_v<Value, ThreadId>) {
    return load.Thread(rows, place);
  } else if constexpr (std::is_same_v<Value, StringId>) {
    return load.String(rows, place);
  } else if constexpr (std::is_same_v<Value, std::string_view>) {
    return rows.Text(place);
  } else if constexpr (std::is_floating_point_v<Value>) {
    return static_cast<Value>(rows.Real(place));
  } else if constexpr (std::is_enum_v<Value>) {
    return static_cast<Value>(
        ReadValue<std::underlying_type_t<Value>>(load, rows, place, if_absent));
  } else {
    const int64_t number = rows.Int(place, if_absent);
    if constexpr (sizeof(Value) < sizeof number) {
      // The file may hold the value signed or unsigned: -1 may stand for the largest.
      constexpr int64_t kEnd = int64_t{1} << 8 * sizeof(Value);
      if (number < -kEnd / 2 || number >= kEnd) {
        load.narrow_numbers.Add(rows);
        return static_cast<Value>(if_absent);
      }
    }
    return static_cast<Value>(number);
  }
}

// The member of whichever row has it.
template <auto kMember, typename Row, typename Other>
auto& MemberOf(Row& row, Other& other) {
  if constexpr (requires { row.*kMember; }) {
    return row.*kMember;
  } else {
    return other.*kMember;
  }
}

template <auto kMember, typename Row, typename Other>
void FillColumn(const Field<kMember>& field, Load& load, NsysTable& rows, int place, Row& row,
                Other& other) {
  using Value = typename MemberTraits<kMember>::Value;
  MemberOf<kMember>(row, other) = ReadValue<Value>(load, rows, place, field.if_absent);
}
template <auto kMember, typename Row, typename Other>
void FillColumn(const NullField<kMember>& field, Load& load, NsysTable& rows, int place, Row& row,
                Other& other) {
  FillColumn(Field<kMember>{field.column, field.if_absent}, load, rows, place, row, other);
}
template <auto kMember, typename Row, typename Other>
void FillColumn(const TextField<kMember>&, Load& load, NsysTable& rows, int place, Row& row,
                Other& other) {
  MemberOf<kMember>(row, other) = load.store->strings.Intern(rows.Text(place));
}
template <auto kMember, typename Row, typename Other>
void FillColumn(const BlobField<kMember>&, Load&, NsysTable& rows, int place, Row& row,
                Other& other) {
  MemberOf<kMember>(row, other) = rows.Text(place);
}
template <auto kMember, int64_t kFactor, typename Row, typename Other>
void FillColumn(const ScaledField<kMember, kFactor>&, Load&, NsysTable& rows, int place, Row& row,
                Other& other) {
  using Value = typename MemberTraits<kMember>::Value;
  MemberOf<kMember>(row, other) =
      static_cast<Value>(rows.U64(place) / static_cast<uint64_t>(kFactor));
}
template <auto kThread, auto kProcess, typename Row, typename Other>
void FillColumn(const ThreadOrProcess<kThread, kProcess>&, Load& load, NsysTable& rows, int place,
                Row& row, Other&) {
  row.*kThread = load.Thread(rows, place);
  row.*kProcess = load.Process(rows, place);
}
template <typename Column, typename Row, typename Other>
void FillColumn(const ReadOnly<Column>& wrapped, Load& load, NsysTable& rows, int place, Row& row,
                Other& other) {
  FillColumn(wrapped.column, load, rows, place, row, other);
}
// Times were already read, by RowChecks.
template <typename Row, typename Other>
void FillColumn(const Start&, Load&, NsysTable&, int, Row&, Other&) {}
template <typename Row, typename Other>
void FillColumn(const End&, Load&, NsysTable&, int, Row&, Other&) {}

// Fills the members that the table's columns name, in `row` or in `other`.
template <typename... Columns, typename Row, typename Other>
void FillRow(const Table<Columns...>& table, Load& load, NsysTable& rows, Row& row, Other& other) {
  int place = 0;
  table.VisitColumns([&]<typename Column>(const Column& column) {
    if constexpr (Column::kIsRead) FillColumn(column, load, rows, place++, row, other);
  });
}

template <typename... Columns>
Result<NsysTable> OpenRows(const NsysDatabase& database, const Table<Columns...>& table) {
  return NsysTable::Open(database, table.name, ReadColumns(table));
}

template <typename... Columns>
bool ReadRowStart(const Table<Columns...>& table, RowChecks& checks) {
  return checks.ReadInstant(kReadPlace<Start, Columns...>, std::get<Start>(table.columns).may_lack);
}

// False: leave this row out.
template <typename... Columns>
bool ReadRowTimes(const Table<Columns...>& table, RowChecks& checks) {
  static constexpr int kStart = kReadPlace<Start, Columns...>;
  static constexpr int kEnd = kReadPlace<End, Columns...>;
  if constexpr (kEnd < 0) {
    return ReadRowStart(table, checks);
  } else {
    return checks.ReadTimes(kStart, kEnd, std::get<End>(table.columns).may_be_open);
  }
}

// Sizes of copies and messages; -1 is none where the column is signed.
template <typename Row>
bool HasPossibleSizes(const Row& row, RowChecks& checks) {
  const auto possible = [&](auto bytes) {
    if (std::is_signed_v<decltype(bytes)> && static_cast<int64_t>(bytes) == -1) return true;
    return checks.TakeBytes(static_cast<int64_t>(bytes));
  };
  if constexpr (requires { row.bytes; }) {
    if (!possible(row.bytes)) return false;
  }
  if constexpr (requires { row.send_bytes; }) {
    if (!possible(row.send_bytes)) return false;
  }
  if constexpr (requires { row.receive_bytes; }) return possible(row.receive_bytes);
  return true;
}

// Once for each column, however many tables of nsys fill it.
template <typename StoreTable>
void RememberIds(Load& load, StoreTable& table) {
  const auto add = [](auto& columns, auto* column) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      columns.push_back(column);
    }
  };
  if constexpr (requires { table.process; }) add(load.process_columns, &table.process);
  if constexpr (requires { table.thread; }) add(load.thread_columns, &table.thread);
}

// Appends the rows of a table of nsys, each starting as a copy of `blank`. `adopt(row, other)` then
// completes or rejects the row; `other` holds the columns that the row has no member for. Errors
// are those of NsysTable.
template <typename Other = NoRow, typename StoreTable, typename... Columns, typename Adopt>
Status LoadRows(Load& load, StoreTable& store_table, const Table<Columns...>& table, Adopt&& adopt,
                const typename StoreTable::RowType& blank = {}) {
  RememberIds(load, store_table);
  ASSIGN_OR_RETURN(NsysTable rows, OpenRows(*load.database, table));
  load.NoteMissing(rows);
  store_table.Reserve(store_table.size() + rows.count());
  RowChecks checks(rows);
  while (rows.Next()) {
    if (!ReadRowTimes(table, checks)) continue;
    typename StoreTable::RowType row = blank;
    Other other;
    row.start_ns = checks.start();
    if constexpr (requires { row.end_ns; }) row.end_ns = checks.end();
    FillRow(table, load, rows, row, other);
    if (!HasPossibleSizes(row, checks)) continue;
    adopt(row, other);
    store_table.Append(row);
  }
  return checks.Done(load);
}

// visit(row, other) for each row of a table whose rows have no times. Texts are valid until the
// next row.
template <typename Row, typename Other = NoRow, typename... Columns, typename Visitor>
Status VisitRows(Load& load, const Table<Columns...>& table, Visitor&& visit) {
  ASSIGN_OR_RETURN(NsysTable rows, OpenRows(*load.database, table));
  while (rows.Next()) {
    Row row;
    Other other;
    FillRow(table, load, rows, row, other);
    if constexpr (std::is_same_v<Other, NoRow>) {
      visit(row);
    } else {
      visit(row, other);
    }
  }
  RETURN_IF_ERROR(rows.status());
  load.NoteFaults(rows);
  return Status();
}

}  // namespace batchlight::nsys
