// The tables, expanded from schema.def: for each a struct of columns and a struct of one row.
//
//   NvtxRangesTable ranges;
//   ranges.Append({.start_ns = 5, .end_ns = 9, .thread = thread, .message = name});
//   ranges.start_ns[0]; ranges.size(); ranges.Row(0).end_ns;
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "store/ids.h"
#include "store/kinds.h"

namespace batchlight {

inline constexpr int64_t kOpenEnd = std::numeric_limits<int64_t>::max();

inline constexpr int32_t kNoMpiValue = std::numeric_limits<int32_t>::min();

// Row structs: every member has a default, so that designated initializers may leave some out.
#define TABLE_BEGIN(Name, member, doc) struct Name##Row {
#define COLUMN(type, name, doc) type name{};
#define TABLE_END(Name)                                    \
  bool operator==(const Name##Row& other) const = default; \
  }                                                        \
  ;
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END

// Column structs. Reorder(order) makes row i the old row order[i].
// noinline, here and below in what is done with whole columns or with values of any table: compiled
// for each type of value, not for each of 500 columns.
template <typename T>
[[gnu::noinline]] void ReorderColumn(std::vector<T>& column, std::span<const uint32_t> order) {
  std::vector<T> moved(order.size());
  for (size_t i = 0; i < order.size(); ++i) moved[i] = column[order[i]];
  column = std::move(moved);
}

#define TABLE_BEGIN(Name, member, doc)                 \
  struct Name##Table {                                 \
    using RowType = Name##Row;                         \
    static constexpr std::string_view kName = #member; \
    static constexpr std::string_view kDoc = doc;
#define ROW_ID(type) using RowId = type;
#define TRAIT(name) static constexpr bool name = true;
#define COLUMN(type, name, doc) std::vector<type> name;
#define TABLE_END(Name)                                              \
  size_t size() const;                                               \
  void Reserve(size_t rows);                                         \
  void Append(const Name##Row& row);                                 \
  Name##Row Row(size_t index) const;                                 \
  void Reorder(std::span<const uint32_t> order);                     \
  void Clear();                                                      \
  size_t resident_bytes() const;                                     \
  template <typename Visitor>                                        \
  void VisitColumns(Visitor&& visit); /* visit(name, doc, column) */ \
  template <typename Visitor>                                        \
  void VisitColumns(Visitor&& visit) const;                          \
  }                                                                  \
  ;
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END

#define TABLE_BEGIN(Name, member, doc) \
  template <typename Visitor>          \
  void Name##Table::VisitColumns(Visitor&& visit) {
#define COLUMN(type, name, doc) visit(std::string_view(#name), std::string_view(doc), name);
#define TABLE_END(Name) }
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END

#define TABLE_BEGIN(Name, member, doc) \
  template <typename Visitor>          \
  void Name##Table::VisitColumns(Visitor&& visit) const {
#define COLUMN(type, name, doc) visit(std::string_view(#name), std::string_view(doc), name);
#define TABLE_END(Name) }
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END

}  // namespace batchlight
