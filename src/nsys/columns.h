// What a column of nsys's file holds. A table (table.h) is a list of these; the importer reads by
// it and the exporter writes by it, so that a column is named once.
//
// Members of two rows may stand in one list: the row of the store, and another one with what the
// store keeps elsewhere.
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
  bool may_lack = false;  // read as kOpenEnd where it is not known
};

// end_ns of the row. A range without an end is written as NULL where that may be, else as the end
// of the recording.
struct End {
  static constexpr bool kIsRead = true;
  static constexpr bool kIsWritten = true;
  Spelling column;
  bool may_be_open = false;  // else a row without an end is left out: work of a GPU has ended
};

// The end of what the store has as an instant.
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

// A pooled string that stands in the file itself.
template <auto kMember>
struct TextField {
  static constexpr bool kIsRead = true;
  static constexpr bool kIsWritten = true;
  Spelling column;
};

// Bytes in a column of text; no value: NULL.
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

// The thread, or its process where the thread is not known.
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

// A column of nsys's that what we export does not have.
template <typename Column>
struct ReadOnly {
  static constexpr bool kIsRead = true;
  static constexpr bool kIsWritten = false;
  Column column;
};
template <typename Column>
ReadOnly(Column) -> ReadOnly<Column>;

// One that says what the store knows better from another place.
template <typename Column>
struct WriteOnly {
  static constexpr bool kIsRead = false;
  static constexpr bool kIsWritten = true;
  Column column;
};
template <typename Column>
WriteOnly(Column) -> WriteOnly<Column>;

// Columns that the store has nothing for, separated by spaces: NULL in what we export.
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
