#include "ingest/nsys_table.h"

#include <sqlite3.h>
#include <strings.h>

#include <charconv>
#include <cmath>
#include <utility>

namespace batchlight {
namespace {

// "x" with every double quote doubled, as an SQL identifier.
std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

bool SameName(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// N of NAME_VN, 1 for NAME itself, 0 for another table.
int VersionOf(std::string_view table, std::string_view name) {
  if (table.size() < name.size() || !SameName(table.substr(0, name.size()), name)) return 0;
  const std::string_view rest = table.substr(name.size());
  if (rest.empty()) return 1;
  if (rest.size() < 3 || !SameName(rest.substr(0, 2), "_V")) return 0;
  int version = 0;
  const auto parsed = std::from_chars(rest.data() + 2, rest.data() + rest.size(), version);
  return parsed.ec == std::errc() && parsed.ptr == rest.data() + rest.size() ? version : 0;
}

}  // namespace

void NsysDatabase::Closer::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Status NsysDatabase::Error(std::string_view what) const {
  const int code = sqlite3_errcode(handle_.get()) & 0xff;
  std::string message = path_ + ": " + std::string(what) + ": ";
  if (code == SQLITE_NOTADB) {
    message += "the file is not an SQLite database";
  } else if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    message += "the file is locked by another program; try again when it has finished";
  } else if (code == SQLITE_CORRUPT) {
    message += "the file is damaged or cut short; export it again with `nsys export -t sqlite`";
  } else {
    message += sqlite3_errmsg(handle_.get());
  }
  return InputError(std::move(message));
}

Result<NsysDatabase> NsysDatabase::Open(const std::string& path) {
  NsysDatabase database;
  database.path_ = path;
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  database.handle_.reset(handle);
  if (handle == nullptr) return InputError("cannot open " + path + ": out of memory");
  if (code != SQLITE_OK) return database.Error("cannot open");
  // The file is not trusted: no functions from its schema, cells checked, and a mapping only as
  // far as the file reaches.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_busy_timeout(handle, 200);
  sqlite3_exec(handle, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=1099511627776", nullptr,
               nullptr, nullptr);
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle, "SELECT name FROM sqlite_master WHERE type='table'", -1,
                         &statement, nullptr) != SQLITE_OK) {
    return database.Error("cannot read its list of tables");
  }
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
    const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    if (name != nullptr) database.tables_.emplace_back(name);
  }
  Status status;
  if (step != SQLITE_DONE) status = database.Error("cannot read its list of tables");
  sqlite3_finalize(statement);
  RETURN_IF_ERROR(std::move(status));
  return database;
}

std::string NsysDatabase::Find(std::string_view name) const {
  const std::string* best = nullptr;
  int best_version = 0;
  for (const std::string& table : tables_) {
    const int version = VersionOf(table, name);
    if (version > best_version) {
      best_version = version;
      best = &table;
    }
  }
  return best == nullptr ? std::string() : *best;
}

void NsysTable::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Result<NsysTable> NsysTable::Open(const NsysDatabase& database, std::string_view name,
                                  std::vector<std::string> columns) {
  NsysTable table;
  table.database_ = &database;
  table.columns_ = std::move(columns);
  table.places_.assign(table.columns_.size(), -1);
  table.name_ = database.Find(name);
  if (table.name_.empty()) {
    table.name_ = name;
    return table;
  }
  std::vector<std::string> present;
  sqlite3_stmt* info = nullptr;
  const std::string pragma = "PRAGMA table_info(" + Quoted(table.name_) + ")";
  if (sqlite3_prepare_v2(database.handle(), pragma.c_str(), -1, &info, nullptr) != SQLITE_OK) {
    return database.Error("cannot read table " + table.name_);
  }
  while (sqlite3_step(info) == SQLITE_ROW) {
    const auto* column = reinterpret_cast<const char*>(sqlite3_column_text(info, 1));
    if (column != nullptr) present.emplace_back(column);
  }
  sqlite3_finalize(info);

  std::string query = "SELECT ";
  int count = 0;
  for (size_t i = 0; i < table.columns_.size(); ++i) {
    bool found = false;
    for (const std::string& column : present) found |= SameName(column, table.columns_[i]);
    if (!found) {
      if (!table.missing_.empty()) table.missing_ += ", ";
      table.missing_ += table.columns_[i];
      continue;
    }
    if (count > 0) query += ',';
    query += Quoted(table.columns_[i]);
    table.places_[i] = count++;
  }
  if (count == 0) query += "NULL";
  query += " FROM " + Quoted(table.name_);
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database.handle(), query.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    return database.Error("cannot read table " + table.name_);
  }
  table.statement_.reset(statement);
  return table;
}

bool NsysTable::Next() {
  if (statement_ == nullptr || !status_.ok()) return false;
  const int step = sqlite3_step(statement_.get());
  if (step == SQLITE_ROW) {
    ++row_;
    return true;
  }
  if (step != SQLITE_DONE) {
    status_ = database_->Error("table " + name_ + ", row " + std::to_string(row_ + 1));
  }
  return false;
}

bool NsysTable::IsNull(int column) const {
  const int place = places_[static_cast<size_t>(column)];
  return place < 0 || sqlite3_column_type(statement_.get(), place) == SQLITE_NULL;
}

int64_t NsysTable::Int(int column, int64_t if_absent) {
  const int place = places_[static_cast<size_t>(column)];
  if (place < 0) return if_absent;
  sqlite3_value* value = sqlite3_column_value(statement_.get(), place);
  if (sqlite3_value_type(value) == SQLITE_INTEGER) return sqlite3_value_int64(value);
  return IntFromOther(column, place, if_absent);
}

int64_t NsysTable::IntFromOther(int column, int place, int64_t if_absent) {
  switch (sqlite3_column_type(statement_.get(), place)) {
    case SQLITE_NULL:
      return if_absent;
    case SQLITE_FLOAT: {
      const double real = sqlite3_column_double(statement_.get(), place);
      if (std::abs(real) < 9.2e18 && std::nearbyint(real) == real) {
        return static_cast<int64_t>(real);
      }
      break;
    }
    default:
      break;
  }
  WrongType(column, place);
  return if_absent;
}

double NsysTable::Real(int column) {
  const int place = places_[static_cast<size_t>(column)];
  if (place < 0) return 0;
  switch (sqlite3_column_type(statement_.get(), place)) {
    case SQLITE_INTEGER:
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement_.get(), place);
    case SQLITE_NULL:
      return 0;
    default:
      WrongType(column, place);
      return 0;
  }
}

std::string_view NsysTable::Text(int column) {
  const int place = places_[static_cast<size_t>(column)];
  if (place < 0) return {};
  const void* bytes = sqlite3_column_blob(statement_.get(), place);
  const int count = sqlite3_column_bytes(statement_.get(), place);
  if (bytes == nullptr || count <= 0) return {};
  return {static_cast<const char*>(bytes), static_cast<size_t>(count)};
}

void NsysTable::WrongType(int column, int place) {
  if (!status_.ok()) return;
  std::string text;
  if (const void* bytes = sqlite3_column_text(statement_.get(), place); bytes != nullptr) {
    text = std::string(static_cast<const char*>(bytes)).substr(0, 40);
  }
  status_ = InputError(database_->path() + ": table " + name_ + ", row " + std::to_string(row_) +
                       ": column " + columns_[static_cast<size_t>(column)] + " holds \"" + text +
                       "\" where a whole number belongs");
}

}  // namespace batchlight
