// Reads the SQLite database of an nsys export: its tables and columns, and the rows of one table,
// column by column. Every value is checked against the type that the reader expects. Rows come
// straight from the file's pages (sqlite_pages.h); a file that cannot be read that way goes through
// SQLite's statements.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_budget.h"
#include "base/status.h"
#include "ingest/nsys/sqlite_lock.h"
#include "ingest/nsys/sqlite_pages.h"
#include "nsys/spelling.h"

struct sqlite3;
struct sqlite3_stmt;

namespace batchlight {

// A read-only connection that keeps other programs from writing for as long as it exists.
class NsysDatabase {
 public:
  struct Table {
    std::string name;
    uint32_t root = 0;  // page
    std::vector<std::string> columns;
    int row_id = -1;  // column that stands for the row id (INTEGER PRIMARY KEY), -1 none
  };

  // Errors (kInput): missing, not a database, damaged, locked by another program.
  static Result<NsysDatabase> Open(const std::string& path);
  // One more connection, for another thread's statements.
  Result<NsysDatabase> Another() const;

  const std::string& path() const { return path_; }
  sqlite3* handle() const { return handle_.get(); }
  // Null: rows come from statements of this connection, which one thread at a time may use.
  std::shared_ptr<const SqlitePages> pages() const { return plain_ ? pages_ : nullptr; }
  const std::vector<Table>& tables() const { return tables_; }
  // The table of this name, or the newest of its successors NAME_V2, NAME_V3, ...; null if none.
  const Table* Find(std::string_view name) const;
  // "x.sqlite: what: sqlite's words"; sqlite's error code decides what it says.
  Status Error(std::string_view what) const;
  Status DamageError(std::string_view what) const;
  const MemoryWatch& memory() const { return *memory_; }
  uint64_t file_bytes() const { return file_bytes_; }

 private:
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  Status Connect();
  Status ReadSchema();

  std::string path_;
  uint64_t file_bytes_ = 0;
  std::shared_ptr<const MemoryWatch> memory_;  // one for all connections
  std::shared_ptr<const SqliteLock> lock_;     // of all connections
  std::shared_ptr<const SqlitePages> pages_;
  bool plain_ = false;  // pages_ hold every value
  std::unique_ptr<sqlite3, Closer> handle_;
  std::vector<Table> tables_;
};

// The rows of one table. Columns are named once, when it opens, and read by their position in that
// list; a column that the file lacks reads as absent.
//
//   ASSIGN_OR_RETURN(auto rows, NsysTable::Open(database, "StringIds", {"id", "value"}));
//   while (rows.Next()) Use(rows.Int(0), rows.Text(1));
//   RETURN_IF_ERROR(rows.status());
class NsysTable {
 public:
  // Missing() leaves out the columns that files may lack.
  static Result<NsysTable> Open(const NsysDatabase& database, std::string_view name,
                                const std::vector<nsys::Spelling>& columns);

  bool exists() const { return rows_.has_value() || statement_ != nullptr; }
  const std::string& name() const { return name_; }
  // The requested columns that the file lacks, for a message; "" when it has them all.
  const std::string& Missing() const { return missing_; }
  // Rows of the table, 0 if not known.
  size_t count() const { return rows_.has_value() ? static_cast<size_t>(rows_->count()) : 0; }

  bool Next();
  uint64_t row() const { return row_; }  // of the current row, from 1
  // "rowid 17" of the current row, as SQL knows it; "row 17" of a table without row ids.
  std::string Where() const;
  // An error if a row held text where a number belongs, if the file is damaged, or if reading it
  // takes too much memory.
  const Status& status() const { return status_; }

  bool IsNull(int column) const { return At(column).type == SqliteField::kNull; }
  int64_t Int(int column, int64_t if_absent = 0) {
    const SqliteField& field = At(column);
    return field.IsInteger() ? field.Integer() : IntFromOther(column, if_absent);
  }
  uint32_t U32(int column, uint32_t if_absent = 0) {
    return static_cast<uint32_t>(Int(column, if_absent));
  }
  uint64_t U64(int column) { return static_cast<uint64_t>(Int(column)); }
  double Real(int column);
  std::string_view Text(int column) {  // text and blobs alike; valid until Next()
    const SqliteField& field = At(column);
    return field.type >= SqliteField::kBlob ? field.Text() : TextFromOther(column);
  }

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  const SqliteField& At(int column) const { return *fields_[static_cast<size_t>(column)]; }
  Status Prepare(const std::vector<int>& places);
  void ChooseFields(const std::vector<int>& places, int row_id);
  bool Step();
  bool Count();
  int64_t IntFromOther(int column, int64_t if_absent);
  std::string_view TextFromOther(int column);
  void WrongType(int column);

  const NsysDatabase* database_ = nullptr;
  std::string name_;
  std::string missing_;
  std::vector<std::string> columns_;
  std::vector<const SqliteField*> fields_;  // of each column
  std::optional<SqliteRows> rows_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  // Values, with their bytes, that are not in the mapped file: those of the statement's current
  // row, or the row id.
  std::vector<SqliteField> own_fields_;
  std::vector<uint64_t> own_bytes_;
  int row_id_place_ = -1;
  bool has_row_ids_ = false;               // of a statement: its last column
  std::vector<std::string> number_texts_;  // of numbers that were asked for as text
  uint64_t row_ = 0;
  uint64_t text_bytes_ = 0;  // that a statement gave so far
  Status status_;
};

}  // namespace batchlight
