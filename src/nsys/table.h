// A table of nsys's file: its name, the tables of the store whose rows it holds, its columns in
// nsys's order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "nsys/columns.h"

namespace batchlight::nsys {

// Names of tables of the store, separated by spaces.
struct Holds {
  std::string_view tables;
  bool whole = true;  // false: a table of ours (own_tables.h) holds what nsys has no column for
};
constexpr Holds PartOf(std::string_view tables) { return {tables, false}; }
inline constexpr Holds kNothing = {""};

template <typename... Columns>
struct Table {
  std::string_view name;
  Holds holds;
  std::tuple<Columns...> columns;

  constexpr Table(std::string_view the_name, Holds the_holds, Columns... the_columns)
      : name(the_name), holds(the_holds), columns(the_columns...) {}

  // visit(column) for each, in order.
  template <typename Visitor>
  constexpr void VisitColumns(Visitor&& visit) const {
    std::apply([&](const Columns&... column) { (visit(column), ...); }, columns);
  }
};

template <typename Column>
inline constexpr bool kIsOptional = false;
template <typename Value>
inline constexpr bool kIsOptional<std::optional<Value>> = true;

// ":T", ":R" or "" of a column whose values are of this type.
template <typename Value>
constexpr std::string_view SqlMark() {
  if constexpr (kIsOptional<Value>) return SqlMark<typename Value::value_type>();
  if constexpr (std::is_same_v<Value, std::string_view>) return ":T";
  if constexpr (std::is_floating_point_v<Value>) return ":R";
  return "";
}

template <auto kMember>
constexpr std::string_view SqlMarkOf(const Field<kMember>&) {
  return SqlMark<typename MemberTraits<kMember>::Value>();
}
template <auto kMember>
constexpr std::string_view SqlMarkOf(const TextField<kMember>&) {
  return ":T";
}
template <auto kMember>
constexpr std::string_view SqlMarkOf(const BlobField<kMember>&) {
  return ":T";
}
constexpr std::string_view SqlMarkOf(const ConstantText&) { return ":T"; }
template <typename Column>
constexpr std::string_view SqlMarkOf(const WriteOnly<Column>& wrapped) {
  return SqlMarkOf(wrapped.column);
}
template <typename Column>
constexpr std::string_view SqlMarkOf(const Column&) {
  return "";
}

// As it is spelled, without the wrappers.
template <typename Column>
constexpr Spelling SpellingOf(const Column& column) {
  if constexpr (std::is_same_v<decltype(column.column), Spelling>) {
    return column.column;
  } else {
    return SpellingOf(column.column);
  }
}

// What the functions below do for a column, compiled once and not for each of some 400 columns.
void AddWord(std::string_view word, std::string& words);
void AddSpelling(const Spelling& spelling, std::vector<Spelling>& columns);
void AddSchemaColumn(const Spelling& spelling, std::string_view mark, std::string& columns);

// The columns that the importer asks for.
template <typename... Columns>
std::vector<Spelling> ReadColumns(const Table<Columns...>& table) {
  std::vector<Spelling> columns;
  table.VisitColumns([&]<typename Column>(const Column& column) {
    if constexpr (Column::kIsRead) AddSpelling(SpellingOf(column), columns);
  });
  return columns;
}

// Names of the columns that the exporter fills, separated by spaces.
template <typename... Columns>
std::string WrittenColumns(const Table<Columns...>& table) {
  std::string names;
  table.VisitColumns([&]<typename Column>(const Column& column) {
    if constexpr (Column::kIsWritten) AddWord(SpellingOf(column).name(), names);
  });
  return names;
}

// The position of the column of type `Wanted` among those that are read; -1: there is none.
template <typename Wanted, typename... Columns>
inline constexpr int kReadPlace = [] {
  int place = 0;
  int found = -1;
  const auto visit = [&]<typename Column>() {
    if (std::is_same_v<Column, Wanted>) found = place;
    if (Column::kIsRead) ++place;
  };
  (visit.template operator()<Columns>(), ...);
  return found;
}();

// CREATE TABLE statement for columns in that spelling, separated by spaces.
std::string CreateStatement(std::string_view table, std::string_view columns);

// All columns of nsys's schema, in the notation of Spelling.
template <typename... Columns>
std::string SchemaColumns(const Table<Columns...>& table) {
  std::string columns;
  table.VisitColumns([&]<typename Column>(const Column& column) {
    if constexpr (std::is_same_v<Column, Unused>) {
      AddWord(column.columns, columns);
    } else if constexpr (Column::kIsWritten) {
      AddSchemaColumn(SpellingOf(column), SqlMarkOf(column), columns);
    }
  });
  return columns;
}

template <typename... Columns>
std::string CreateStatement(const Table<Columns...>& table) {
  return CreateStatement(table.name, SchemaColumns(table));
}

}  // namespace batchlight::nsys
