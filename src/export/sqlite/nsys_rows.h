// Rows of nsys's tables, written by the lists of columns in nsys/*_tables.h: each column's kind and
// the type of its member say how it is written, at compile time.
//
//   return WriteRows(writer, nsys::kMemset, store.memsets, InOrder(store.memsets));
#pragma once

#include <algorithm>
#include <concepts>
#include <numeric>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "export/sqlite/nsys_writer.h"
#include "nsys/table.h"

namespace batchlight {

struct NoRow {};

// The usual first step of a row: nothing.
struct KeepRow {
  template <typename Row, typename Other>
  bool operator()(Row&, Other&) const {
    return true;
  }
};

template <typename Value>
void PutValue(NsysWriter& writer, SqliteInsert& insert, const Value& value) {
  if constexpr (nsys::kIsOptional<Value>) {
    if (value.has_value()) {
      PutValue(writer, insert, *value);
    } else {
      insert.Null();
    }
  } else if constexpr (std::is_same_v<Value, StringId>) {
    if (value.IsNone()) {
      insert.Null();
    } else {
      insert.Int(writer.String(value));
    }
  } else if constexpr (std::is_same_v<Value, ThreadId>) {
    insert.Int(writer.GlobalTid(value));
  } else if constexpr (std::is_same_v<Value, ProcessId>) {
    insert.Int(writer.GlobalPid(value));
  } else if constexpr (std::is_same_v<Value, std::string_view>) {
    insert.Text(value);
  } else if constexpr (std::is_floating_point_v<Value>) {
    insert.Real(value);
  } else {
    insert.Int(static_cast<int64_t>(value));
  }
}

// The member of whichever row has it; null: there is no such row.
template <auto kMember, typename Row, typename Other>
auto* MemberIn(const Row& row, const Other& other) {
  if constexpr (requires { row.*kMember; }) {
    return &(row.*kMember);
  } else if constexpr (nsys::kIsOptional<Other>) {
    return other.has_value() ? &((*other).*kMember) : nullptr;
  } else {
    return &(other.*kMember);
  }
}

// One row on its way into the file.
template <typename Row, typename Other>
class RowPutter {
 public:
  RowPutter(NsysWriter& writer, SqliteInsert& insert, size_t index, const Row& row,
            const Other& other)
      : writer_(writer), insert_(insert), index_(index), row_(row), other_(other) {}

  void Put(const nsys::Start&) { insert_.Int(writer_.Time(row_.start_ns)); }
  void Put(const nsys::End& end) {
    if (row_.end_ns == kOpenEnd && !end.column.is_required()) {
      insert_.Null();
    } else {
      insert_.Int(writer_.End(row_.end_ns));
    }
  }
  void Put(const nsys::EndAtStart&) { insert_.Int(writer_.Time(row_.start_ns)); }
  void Put(const nsys::RowNumber&) { insert_.Int(static_cast<int64_t>(index_) + 1); }
  void Put(const nsys::Constant& constant) { insert_.Int(constant.value); }
  void Put(const nsys::ConstantText& constant) { insert_.Text(constant.value); }
  template <auto kMember>
  void Put(const nsys::Field<kMember>& field) {
    const auto* value = MemberIn<kMember>(row_, other_);
    if (value == nullptr) {
      insert_.Null();
    } else if (IsMissingText(*value) && field.column.is_required()) {
      insert_.Int(writer_.NoString());
    } else {
      PutValue(writer_, insert_, *value);
    }
  }
  template <auto kMember>
  void Put(const nsys::NullField<kMember>& field) {
    const auto value = *MemberIn<kMember>(row_, other_);
    insert_.IntOrNull(value != static_cast<decltype(value)>(field.if_absent),
                      static_cast<int64_t>(value));
  }
  template <auto kMember>
  void Put(const nsys::TextField<kMember>&) {
    insert_.Text(writer_.store.Text(*MemberIn<kMember>(row_, other_)));
  }
  template <auto kMember>
  void Put(const nsys::BlobField<kMember>&) {
    const std::string_view bytes = *MemberIn<kMember>(row_, other_);
    if (bytes.empty()) {
      insert_.Null();
    } else {
      insert_.Blob(bytes);
    }
  }
  template <auto kMember, int64_t kFactor>
  void Put(const nsys::ScaledField<kMember, kFactor>&) {
    insert_.Int(static_cast<int64_t>(*MemberIn<kMember>(row_, other_)) * kFactor);
  }
  template <auto kThread, auto kProcess>
  void Put(const nsys::ThreadOrProcess<kThread, kProcess>&) {
    const ThreadId thread = row_.*kThread;
    insert_.Int(thread.IsNone() ? writer_.GlobalPid(row_.*kProcess) : writer_.GlobalTid(thread));
  }
  template <typename Column>
  void Put(const nsys::WriteOnly<Column>& wrapped) {
    Put(wrapped.column);
  }

 private:
  // Of a file that lacks the column, for example.
  template <typename Value>
  static bool IsMissingText(const Value& value) {
    if constexpr (std::is_same_v<Value, StringId>) return value.IsNone();
    return false;
  }

  NsysWriter& writer_;
  SqliteInsert& insert_;
  size_t index_;
  const Row& row_;
  const Other& other_;
};

// `index`: of the row in the store.
template <typename... Columns, typename Row, typename Other = NoRow>
void PutRow(NsysWriter& writer, SqliteInsert& insert, const nsys::Table<Columns...>& table,
            size_t index, const Row& row, const Other& other = {}) {
  RowPutter<Row, Other> putter(writer, insert, index, row, other);
  table.VisitColumns([&]<typename Column>(const Column& column) {
    if constexpr (Column::kIsWritten) putter.Put(column);
  });
  insert.Done();
}

// 0 to count - 1. (std::views::iota of GCC's library is beyond clang 14, which fuzzes.)
class RowNumbers {
 public:
  class Iterator {
   public:
    explicit Iterator(size_t row) : row_(row) {}
    size_t operator*() const { return row_; }
    Iterator& operator++() {
      ++row_;
      return *this;
    }
    bool operator==(const Iterator& other) const = default;

   private:
    size_t row_;
  };
  explicit RowNumbers(size_t count) : count_(count) {}
  Iterator begin() const { return Iterator(0); }
  Iterator end() const { return Iterator(count_); }
  size_t size() const { return count_; }

 private:
  size_t count_;
};

// Row numbers of a store table: in its own order; by start; by start, only those that `keep`
// accepts.
template <typename StoreTable>
RowNumbers InOrder(const StoreTable& table) {
  return RowNumbers(table.size());
}
template <typename StoreTable>
std::vector<uint32_t> ByStart(const StoreTable& table, std::vector<uint32_t> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return table.start_ns[a] < table.start_ns[b]; });
  return rows;
}
template <typename StoreTable>
std::vector<uint32_t> ByStart(const StoreTable& table) {
  std::vector<uint32_t> rows(table.size());
  std::iota(rows.begin(), rows.end(), 0u);
  return ByStart(table, std::move(rows));
}
template <typename StoreTable, typename Keep>
requires std::predicate<Keep, uint32_t> std::vector<uint32_t> ByStart(const StoreTable& table,
                                                                      const Keep& keep) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < table.size(); ++row) {
    if (keep(row)) rows.push_back(row);
  }
  return ByStart(table, std::move(rows));
}

template <typename Row>
bool SelectsTime(const NsysWriter& writer, const Row& row) {
  if constexpr (requires { row.end_ns; })
    return writer.Selects(row.start_ns, row.end_ns);
  else if constexpr (requires { row.start_ns; })
    return writer.Selects(row.start_ns, row.start_ns);
  else
    return true;
}

// Writes the selected rows of a store table. `prepare(row, other)` completes a row before it is
// written and fills `other`; if it returns false, the row is left out.
template <typename Other = NoRow, typename... Columns, typename StoreTable, typename Order,
          typename Prepare = KeepRow>
Status WriteRows(NsysWriter& writer, const nsys::Table<Columns...>& table, const StoreTable& rows,
                 const Order& order, const Prepare& prepare = {}) {
  return writer.Table(table, order.size(), [&](SqliteInsert& insert) {
    for (const size_t index : order) {
      auto row = rows.Row(index);
      if (!SelectsTime(writer, row)) continue;
      Other other;
      if constexpr (requires { prepare(row, other, index); }) {
        if (!prepare(row, other, index)) continue;
      } else {
        if (!prepare(row, other)) continue;
      }
      PutRow(writer, insert, table, index, row, other);
    }
  });
}

// Writes rows that come from no table of the store, unchanged.
template <typename... Columns, typename Rows>
Status WritePlainRows(NsysWriter& writer, const nsys::Table<Columns...>& table, const Rows& rows) {
  return writer.Table(table, std::size(rows), [&](SqliteInsert& insert) {
    for (const auto& row : rows) PutRow(writer, insert, table, 0, row);
  });
}

}  // namespace batchlight
