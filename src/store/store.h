// A recording in memory: all tables and their strings. Knows no files. Filled by ingest, read by
// analyses as `const Store&`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/string_pool.h"
#include "store/tables.h"

namespace batchlight {

struct Store {
  // Out of line: of 500 columns, these are what takes a compiler longest in a file that holds a
  // store.
  Store();
  Store(Store&& other) noexcept;
  Store& operator=(Store&& other) noexcept;
  ~Store();

  StringPool strings;
  int64_t session_start_utc_ns = 0;  // Unix time of time 0
  int64_t duration_ns = 0;           // of the session: last event or end of the last process
  std::string source;                // path of the input, for headings
  std::string source_format;         // "batchlight", "nsys-sqlite", "kineto"

#define TABLE_BEGIN(Name, member, doc) Name##Table member;
#define COLUMN(type, name, doc)
#define TABLE_END(Name)
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END

  std::string_view Text(StringId id) const { return strings.Get(id); }
  // Process of a thread; None for None.
  ProcessId ProcessOf(ThreadId thread) const {
    return thread.IsNone() ? ProcessId::None() : threads.process[thread.row()];
  }
  // Last value recorded under a property key (of any process, or the session); "" if none.
  std::string_view Property(std::string_view key) const;
  // The value that this process set, else the session's; "" if neither set one.
  std::string_view Property(std::string_view key, ProcessId process) const;
  size_t resident_bytes() const;

  // visit(table) for every table.
  template <typename Visitor>
  void VisitTables(Visitor&& visit) {
#define TABLE_BEGIN(Name, member, doc) visit(member);
#define COLUMN(type, name, doc)
#define TABLE_END(Name)
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END
  }
  template <typename Visitor>
  void VisitTables(Visitor&& visit) const {
#define TABLE_BEGIN(Name, member, doc) visit(member);
#define COLUMN(type, name, doc)
#define TABLE_END(Name)
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END
  }
};

}  // namespace batchlight
