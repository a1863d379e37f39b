// Writes an SQLite database as fast as SQLite can: one transaction, prepared statements, no
// journal. The file has another name until it is complete.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace batchlight {

class SqliteFile {
 public:
  // Errors: kOutput. Without Commit() nothing stays on disk.
  static Result<SqliteFile> Create(const std::string& path, const Folder* into = nullptr);
  SqliteFile(SqliteFile&& other) noexcept;
  SqliteFile& operator=(SqliteFile&&) = delete;
  ~SqliteFile();

  Status Execute(const std::string& sql);
  Status Commit();
  sqlite3* handle() const { return handle_; }
  Status Error(std::string_view what) const;

 private:
  SqliteFile() = default;
  std::string path_;
  std::optional<AtomicFileWriter> file_;  // takes no bytes itself
  sqlite3* handle_ = nullptr;
};

// INSERT INTO table (columns) with one value call per column, in order, then Done().
class SqliteInsert {
 public:
  // `columns`: names separated by spaces.
  static Result<SqliteInsert> Prepare(SqliteFile& file, std::string_view table,
                                      std::string_view columns);

  SqliteInsert& Int(int64_t value);
  SqliteInsert& U64(uint64_t value) { return Int(static_cast<int64_t>(value)); }
  SqliteInsert& Real(double value);
  // `text` must live until Done().
  SqliteInsert& Text(std::string_view text);
  SqliteInsert& Blob(std::string_view bytes);
  SqliteInsert& Null();
  SqliteInsert& IntOrNull(bool known, int64_t value) { return known ? Int(value) : Null(); }
  // After the first error every further call does nothing: check status() at the end.
  void Done();
  const Status& status() const { return status_; }
  uint64_t rows() const { return rows_; }

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteFile* file_ = nullptr;
  std::string table_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  int next_ = 1;
  uint64_t rows_ = 0;
  Status status_;
};

}  // namespace batchlight
