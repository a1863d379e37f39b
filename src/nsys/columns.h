// What a column of nsys's file holds. A table (table.h) is a list of these. The importer reads by
// that list and the exporter writes by it, so each column is named once.
//
// One list may name members of two rows: the row of the store, and another row with what the store
// keeps elsewhere.
#pragma once

#include <cstdint>
#include <string_view>

#include "nsys/spelling.h"

namespace batchlight::nsys {

// start_ns of the row.
struct Start {
  static constexpr bool kIsRead = true;
  static constexpr bool kIsWritten = true;
  Spelling column;
  bool may_lack = false;  // an unknown start reads as kOpenEnd
};

// end_ns of the row. An open range is written as NULL if the column allows it, else as the end of
// the recording.
struct End {
  static constexpr bool kIsRead = true;
  static constexpr bool kIsWritten = true;
  Spelling column;
  bool may_be_open = false;  // else a row without an end is left out: work of a GPU has ended
};

// The end of an event that is an instant in the store.
struct EndAtStart {
  static constexpr bool kIsRead = false;
  static constexpr bool kIsWritten = true;
  Spelling column;
};

// A member: a number, a kind, a text, or a reference as nsys writes it (globalTid, globalPid, an id
// of StringIds). NULL reads as `if_absent`.
template <auto kMember>
struct Field {
  static constexpr bool kIsRead = true;
  static constexpr bool kIsWritten = true;
  Spelling column;
  int64_t if_absent = 0;
};

// A number that is NULL in the file where the member is `if_absent`.
template <auto kMember>
struct NullField {
  static constexpr bool kIsRead = true;
  static constexpr bool kIsWritten = true;
  Spelling column;
  int64_t if_absent = 0;
};

// A pooled string that the column holds as text, not as an id.
template <auto kMember>
struct TextField {
  static constexpr bool kIsRead = true;
  static constexpr bool kIsWritten = true;
  Spelling column;
};

// Bytes in a column of text; NULL if there is no value.
template <auto kMember>
struct BlobField {
  static constexpr bool kIsRead = true;
  static constexpr bool kIsWritten = true;
  Spelling column;
};

// A number that is `kFactor` times as large in the file.
template <auto kMember, int64_t kFactor>
struct ScaledField {
  static constexpr bool kIsRead = true;
  static constexpr bool kIsWritten = true;
  Spelling column;
};

// The thread, or its process if the thread is unknown.
template <auto kThread, auto kProcess>
struct ThreadOrProcess {
  static constexpr bool kIsRead = true;
  static constexpr bool kIsWritten = true;
  Spelling column;
};

// The number of the row in the store, from 1.
struct RowNumber {
  static constexpr bool kIsRead = false;
  static constexpr bool kIsWritten = true;
  Spelling column;
};

struct Constant {
  static constexpr bool kIsRead = false;
  static constexpr bool kIsWritten = true;
  Spelling column;
  int64_t value = 0;
};

struct ConstantText {
  static constexpr bool kIsRead = false;
  static constexpr bool kIsWritten = true;
  Spelling column;
  std::string_view value;
};

// A column of nsys's that our exports lack.
template <typename Column>
struct ReadOnly {
  static constexpr bool kIsRead = true;
  static constexpr bool kIsWritten = false;
  Column column;
};
template <typename Column>
ReadOnly(Column) -> ReadOnly<Column>;

// A column whose content the store takes from a better source.
template <typename Column>
struct WriteOnly {
  static constexpr bool kIsRead = false;
  static constexpr bool kIsWritten = true;
  Column column;
};
template <typename Column>
WriteOnly(Column) -> WriteOnly<Column>;

// Columns that the store has no data for, separated by spaces: NULL in our exports.
struct Unused {
  static constexpr bool kIsRead = false;
  static constexpr bool kIsWritten = false;
  std::string_view columns;
};

template <auto kMember>
struct MemberTraits;
template <typename RowType, typename ValueType, ValueType RowType::*kMember>
struct MemberTraits<kMember> {
  using Row = RowType;
  using Value = ValueType;
};

}  // namespace batchlight::nsys
