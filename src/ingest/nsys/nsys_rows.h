// The one loader of tables whose rows become rows of a table of the store: each column of nsys is
// named beside the member it fills, and the member's type says how it is read.
//
//   return LoadRows(load, load.store->memsets, "CUPTI_ACTIVITY_KIND_MEMSET", kStartEnd, KeepRow{},
//                   Field<&MemsetsRow::process>{"globalPid"},
//                   Field<&MemsetsRow::memory_kind>{"memKind", 7}, ...);
#pragma once

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ingest/nsys/nsys_load.h"

namespace batchlight::nsys {

// A column ("name?": one that files rightly may lack) and what it is when absent or NULL.
template <auto kMember>
struct Field {
  std::string_view column;
  int64_t if_absent = 0;
};

// The columns that say when: a stretch, or an instant where `end` is empty.
struct When {
  std::string_view start;
  std::string_view end;
  bool may_be_open = false;     // without an end: goes on to the end of the recording
  bool may_lack_start = false;  // of an instant: kOpenEnd where it is not known
};
inline constexpr When kStartEnd = {"start", "end"};  // work of a GPU has always ended
inline constexpr When kCall = {"start", "end", true};
inline constexpr When kAtStart = {"start", ""};

struct NoRow {};

// The usual last step of a row: nothing.
struct KeepRow {
  template <typename Row, typename Other>
  void operator()(Row&, const Other&) const {}
};

template <typename Value>
Value ReadField(Load& load, NsysTable& rows, int column, int64_t if_absent) {
  if constexpr (std::is_same_v<Value, ProcessId>) return load.Process(rows, column);
  if constexpr (std::is_same_v<Value, ThreadId>) return load.Thread(rows, column);
  if constexpr (std::is_same_v<Value, StringId>) return load.String(rows, column);
  if constexpr (kIsKind<Value>) {
    return static_cast<Value>(
        ReadField<std::underlying_type_t<Value>>(load, rows, column, if_absent));
  }
  if constexpr (std::is_integral_v<Value>) {
    const int64_t number = rows.Int(column, if_absent);
    if constexpr (sizeof(Value) < sizeof number) {
      // Signed or not, as the file has it: -1 may stand for the largest.
      constexpr int64_t kEnd = int64_t{1} << 8 * sizeof(Value);
      if (number < -kEnd / 2 || number >= kEnd) {
        load.narrow_numbers.Add(rows);
        return static_cast<Value>(if_absent);
      }
    }
    return static_cast<Value>(number);
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
  if constexpr (requires { row.receive_bytes; }) return possible(row.receive_bytes);
  return true;
}

// Members of Row go into `row`, all others into `other`.
template <auto kMember, typename Row, typename Other>
void FillMember(Load& load, NsysTable& rows, int column, const Field<kMember>& field, Row& row,
                Other& other) {
  if constexpr (requires { row.*kMember; }) {
    using Value = std::decay_t<decltype(row.*kMember)>;
    row.*kMember = ReadField<Value>(load, rows, column, field.if_absent);
  } else {
    using Value = std::decay_t<decltype(other.*kMember)>;
    other.*kMember = ReadField<Value>(load, rows, column, field.if_absent);
  }
}

// Once for each column, however many tables of nsys fill it.
template <typename Table>
void RememberIds(Load& load, Table& table) {
  const auto add = [](auto& columns, auto* column) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      columns.push_back(column);
    }
  };
  if constexpr (requires { table.process; }) add(load.process_columns, &table.process);
  if constexpr (requires { table.thread; }) add(load.thread_columns, &table.thread);
}

// `adopt(row, other)` has the last word on a row, with the columns in `Other` that the row has no
// member for. Errors are those of NsysTable.
template <typename Other = NoRow, typename Table, typename Adopt, auto... kMembers>
Status LoadRows(Load& load, Table& table, std::string_view name, When when, Adopt&& adopt,
                const Field<kMembers>&... fields) {
  RememberIds(load, table);
  std::vector<std::string_view> columns = {when.start};
  if (!when.end.empty()) columns.push_back(when.end);
  const int first = static_cast<int>(columns.size());
  (columns.push_back(fields.column), ...);
  ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(*load.database, name, columns));
  load.NoteMissing(rows);
  table.Reserve(table.size() + rows.count());
  RowChecks checks(rows);
  while (rows.Next()) {
    if (!(when.end.empty() ? checks.ReadInstant(0, when.may_lack_start)
                           : checks.ReadTimes(0, 1, when.may_be_open))) {
      continue;
    }
    typename Table::RowType row;
    Other other;
    row.start_ns = checks.start();
    if constexpr (requires { row.end_ns; }) row.end_ns = checks.end();
    int column = first;
    (FillMember(load, rows, column++, fields, row, other), ...);
    if (!HasPossibleSizes(row, checks)) continue;
    adopt(row, other);
    table.Append(row);
  }
  return checks.Done(load);
}

}  // namespace batchlight::nsys
