// Reading the SQLite database of an nsys export: which tables and columns there are, and the rows
// of one table, column by column, with every value checked against the type the reader expects.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace batchlight {

// A read-only connection. One thread at a time; open one per thread.
class NsysDatabase {
 public:
  // Errors (kInput): missing, not a database, damaged, locked by another program.
  static Result<NsysDatabase> Open(const std::string& path);

  const std::string& path() const { return path_; }
  sqlite3* handle() const { return handle_.get(); }
  // Names of all tables of the file, as written.
  const std::vector<std::string>& tables() const { return tables_; }
  // The table of this name, or the newest of its successors NAME_V2, NAME_V3, ...; "" if none.
  std::string Find(std::string_view name) const;
  // "x.sqlite: what: sqlite's words", told apart by sqlite's error code.
  Status Error(std::string_view what) const;

 private:
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Closer> handle_;
  std::vector<std::string> tables_;
};

// The rows of one table. Columns are named at the start and read by their place in that list; a
// column that this version of nsys does not write reads as absent.
//
//   ASSIGN_OR_RETURN(auto rows, NsysTable::Open(database, "StringIds", {"id", "value"}));
//   while (rows.Next()) Use(rows.Int(0), rows.Text(1));
//   RETURN_IF_ERROR(rows.status());
class NsysTable {
 public:
  static Result<NsysTable> Open(const NsysDatabase& database, std::string_view name,
                                std::vector<std::string> columns);

  bool exists() const { return statement_ != nullptr; }
  const std::string& name() const { return name_; }
  bool Has(int column) const { return places_[static_cast<size_t>(column)] >= 0; }
  // Columns of `required` that the file does not have, for a message; "" when all are there.
  std::string Missing() const { return missing_; }

  bool Next();
  uint64_t row() const { return row_; }  // of the current row, from 1
  // Not fine when a row held text where a number belongs, or the file is damaged.
  const Status& status() const { return status_; }

  bool IsNull(int column) const;
  int64_t Int(int column, int64_t if_absent = 0);
  uint32_t U32(int column, uint32_t if_absent = 0) {
    return static_cast<uint32_t>(Int(column, if_absent));
  }
  uint64_t U64(int column) { return static_cast<uint64_t>(Int(column)); }
  double Real(int column);
  std::string_view Text(int column);  // text and blobs alike; valid until Next()

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  int64_t IntFromOther(int column, int place, int64_t if_absent);
  void WrongType(int column, int place);

  const NsysDatabase* database_ = nullptr;
  std::string name_;
  std::string missing_;
  std::vector<std::string> columns_;
  std::vector<int> places_;  // of a column in the statement, -1 = absent
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  uint64_t row_ = 0;
  Status status_;
};

}  // namespace batchlight
