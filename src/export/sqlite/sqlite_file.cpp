#include "export/sqlite/sqlite_file.h"

#include <sqlite3.h>

#include <cstring>
#include <utility>

#include "base/json_text.h"
#include "export/sqlite/descriptor_vfs.h"

namespace batchlight {

Result<SqliteFile> SqliteFile::Create(const std::string& path, const Folder* into) {
  SqliteFile file;
  file.path_ = path;
  ASSIGN_OR_RETURN(AtomicFileWriter writer, AtomicFileWriter::Create(path, {.folder = into}));
  file.file_.emplace(std::move(writer));
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(DescriptorName(file.file_->fd()).c_str(), &file.handle_, flags,
                      DescriptorVfs()) != SQLITE_OK) {
    return OutputError("cannot write " + path + ": " +
                       std::strerror(sqlite3_system_errno(file.handle_)) +
                       "; choose another folder or create it first");
  }
  RETURN_IF_ERROR(file.Execute(
      "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
      "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY; BEGIN"));
  return file;
}

SqliteFile::SqliteFile(SqliteFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, std::nullopt)),
      handle_(std::exchange(other.handle_, nullptr)) {}

SqliteFile::~SqliteFile() { sqlite3_close_v2(handle_); }

Status SqliteFile::Error(std::string_view what) const {
  // SQLite reports any failed write as "disk I/O error".
  const int code = sqlite3_errcode(handle_);
  const bool is_full = code == SQLITE_FULL || code == SQLITE_IOERR;
  return OutputError(
      path_ + ": " + std::string(what) + ": " + sqlite3_errmsg(handle_) +
      (is_full ? "; nothing was left under that name. Free space or choose another folder" : ""));
}

Status SqliteFile::Execute(const std::string& sql) {
  return sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK
             ? Status()
             : Error("cannot write");
}

Status SqliteFile::Commit() {
  RETURN_IF_ERROR(Execute("COMMIT"));
  if (sqlite3_close(handle_) != SQLITE_OK) return Error("cannot close");
  handle_ = nullptr;
  return file_->Commit();
}

void SqliteInsert::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Result<SqliteInsert> SqliteInsert::Prepare(SqliteFile& file, std::string_view table,
                                           std::string_view columns) {
  std::string names;
  std::string marks;
  for (std::string_view rest = columns; !rest.empty();) {
    const size_t space = rest.find(' ');
    if (!names.empty()) {
      names += ',';
      marks += ',';
    }
    names += '"' + std::string(rest.substr(0, space)) + '"';
    marks += '?';
    rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
  }
  const std::string sql =
      "INSERT INTO \"" + std::string(table) + "\" (" + names + ") VALUES (" + marks + ")";
  SqliteInsert insert;
  insert.file_ = &file;
  insert.table_ = table;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(file.handle(), sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement,
                         nullptr) != SQLITE_OK) {
    return file.Error("table " + insert.table_);
  }
  insert.statement_.reset(statement);
  return insert;
}

SqliteInsert& SqliteInsert::Int(int64_t value) {
  sqlite3_bind_int64(statement_.get(), next_++, value);
  return *this;
}
SqliteInsert& SqliteInsert::Real(double value) {
  sqlite3_bind_double(statement_.get(), next_++, value);
  return *this;
}
SqliteInsert& SqliteInsert::Null() {
  sqlite3_bind_null(statement_.get(), next_++);
  return *this;
}

SqliteInsert& SqliteInsert::Blob(std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), next_++, bytes.data() == nullptr ? "" : bytes.data(),
                      bytes.size(), SQLITE_STATIC);
  return *this;
}

SqliteInsert& SqliteInsert::Text(std::string_view text) {
  if (IsValidUtf8(text)) {
    sqlite3_bind_text64(statement_.get(), next_++, text.data() == nullptr ? "" : text.data(),
                        text.size(), SQLITE_STATIC, SQLITE_UTF8);
  } else {
    const std::string valid = ValidUtf8(text);
    sqlite3_bind_text64(statement_.get(), next_++, valid.data(), valid.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
  }
  return *this;
}

void SqliteInsert::Done() {
  next_ = 1;
  if (!status_.ok()) return;
  if (sqlite3_step(statement_.get()) != SQLITE_DONE) {
    status_ = file_->Error("table " + table_ + ", row " + std::to_string(rows_ + 1));
  }
  sqlite3_reset(statement_.get());
  ++rows_;
}

}  // namespace batchlight
