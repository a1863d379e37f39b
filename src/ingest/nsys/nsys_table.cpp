#include "ingest/nsys/nsys_table.h"

#include <sqlite3.h>
#include <strings.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "ingest/common/quoted_text.h"

namespace batchlight {
namespace {

// Beyond the size of the file: what columns added later have as their default is there once alone.
constexpr uint64_t kMostTextBytes = uint64_t{1} << 30;
// The least that SQLite shall take for a value.
constexpr uint64_t kFewBytes = 1 << 20;

// The name as an SQL identifier: in double quotes, with those inside it doubled.
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

Status NsysDatabase::DamageError(std::string_view what) const {
  return InputError(path_ + ": " + std::string(what) +
                    ": the file is damaged or cut short; export it again with "
                    "`nsys export -t sqlite`");
}

Status NsysDatabase::Error(std::string_view what) const {
  const int code = sqlite3_errcode(handle_.get()) & 0xff;
  if (code == SQLITE_CORRUPT) return DamageError(what);
  std::string message = path_ + ": " + std::string(what) + ": ";
  if (code == SQLITE_NOTADB) {
    message += "the file is not an SQLite database";
  } else {
    message += sqlite3_errmsg(handle_.get());
  }
  return InputError(std::move(message));
}

Result<NsysDatabase> NsysDatabase::Open(const std::string& path) {
  NsysDatabase database;
  database.path_ = path;
  std::error_code error;
  database.file_bytes_ = std::filesystem::file_size(path, error);
  if (error) database.file_bytes_ = 0;
  ASSIGN_OR_RETURN(database.lock_, SqliteLock::Take(path));
  database.memory_ = std::make_shared<const MemoryWatch>(path);
  database.pages_ = SqlitePages::Map(path);
  if (database.pages_ != nullptr && database.pages_->missing_bytes() > 0) {
    return database.DamageError("the last " + std::to_string(database.pages_->missing_bytes()) +
                                " bytes are missing");
  }
  RETURN_IF_ERROR(database.Connect());
  RETURN_IF_ERROR(database.ReadSchema());
  return database;
}

Result<NsysDatabase> NsysDatabase::Another() const {
  NsysDatabase database;
  database.path_ = path_;
  database.file_bytes_ = file_bytes_;
  database.lock_ = lock_;
  database.memory_ = memory_;
  database.tables_ = tables_;
  RETURN_IF_ERROR(database.Connect());
  return database;
}

Status NsysDatabase::Connect() {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(lock_->Address(path_).c_str(), &handle,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
  handle_.reset(handle);
  if (handle == nullptr) return InputError("cannot open " + path_ + ": out of memory");
  if (code != SQLITE_OK) return Error("cannot open");
  // The file is not trusted: no functions from its schema, no virtual tables (a search index, say,
  // whose pages may be anything), checked cells, and a mapping no larger than the file.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_drop_modules(handle, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // Nor values larger than the file: pages of one may follow each other in a circle.
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH,
                static_cast<int>(std::clamp<uint64_t>(file_bytes_, kFewBytes, INT32_MAX)));
  sqlite3_exec(handle, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=1099511627776; BEGIN", nullptr,
               nullptr, nullptr);
  return Status();
}

// The pages alone do not hold values that are computed, or that came with a column added later. A
// file with such values is read through statements, every table of it.
Status NsysDatabase::ReadSchema() {
  constexpr const char* kQuery =
      "SELECT t.name, t.rootpage, c.name, c.pk, c.type, c.dflt_value IS NOT NULL OR c.hidden, "
      "c.hidden "
      "FROM sqlite_master t JOIN pragma_table_xinfo(t.name) c "
      "WHERE t.type = 'table' AND t.rootpage > 0 ORDER BY t.rowid, c.cid";
  constexpr int kComputedOnRead = 2;  // GENERATED ALWAYS AS ... VIRTUAL
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle(), kQuery, -1, &statement, nullptr) != SQLITE_OK) {
    return Error("cannot read its list of tables");
  }
  const auto text = [&](int column) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
    return std::string_view(bytes == nullptr ? "" : bytes);
  };
  int step = SQLITE_ROW;
  bool plain = pages_ != nullptr && pages_->readable();
  int keys = 0;
  while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
    const auto root = static_cast<uint32_t>(sqlite3_column_int64(statement, 1));
    if (tables_.empty() || tables_.back().name != text(0)) {
      tables_.push_back({std::string(text(0)), root, {}, -1});
      plain = plain && pages_->IsTable(root);
      keys = 0;
    }
    Table& table = tables_.back();
    if (sqlite3_column_int(statement, 3) > 0) {
      const bool alone = ++keys == 1 && SameName(text(4), "INTEGER");
      table.row_id = alone ? static_cast<int>(table.columns.size()) : -1;
    }
    plain = plain && sqlite3_column_int(statement, 5) == 0;
    // A computed value may take any time: its column is read as one that is not there.
    const bool computed = sqlite3_column_int(statement, 6) == kComputedOnRead;
    table.columns.emplace_back(computed ? "" : text(2));
  }
  Status status;
  if (step != SQLITE_DONE) status = Error("cannot read its list of tables");
  sqlite3_finalize(statement);
  plain_ = plain;
  return status;
}

const NsysDatabase::Table* NsysDatabase::Find(std::string_view name) const {
  const Table* best = nullptr;
  int best_version = 0;
  for (const Table& table : tables_) {
    const int version = VersionOf(table.name, name);
    if (version > best_version) {
      best_version = version;
      best = &table;
    }
  }
  return best;
}

void NsysTable::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Result<NsysTable> NsysTable::Open(const NsysDatabase& database, std::string_view name,
                                  const std::vector<nsys::Spelling>& columns) {
  NsysTable rows;
  rows.database_ = &database;
  rows.name_ = name;
  const NsysDatabase::Table* table = database.Find(name);
  static constexpr SqliteField kAbsent;
  rows.fields_.assign(columns.size(), &kAbsent);
  for (const nsys::Spelling& column : columns) rows.columns_.emplace_back(column.name());
  if (table == nullptr) return rows;
  rows.name_ = table->name;
  std::vector<int> places;
  for (const nsys::Spelling& spelling : columns) {
    const std::string_view column = spelling.name();
    int place = static_cast<int>(table->columns.size()) - 1;
    while (place >= 0 && !SameName(table->columns[static_cast<size_t>(place)], column)) --place;
    places.push_back(place);
    if (place >= 0 || spelling.may_lack()) continue;
    if (!rows.missing_.empty()) rows.missing_ += ", ";
    rows.missing_ += column;
  }
  if (database.pages() == nullptr) {
    RETURN_IF_ERROR(rows.Prepare(places));
    return rows;
  }
  const int last = *std::max_element(places.begin(), places.end());
  rows.rows_.emplace(database.pages(), table->root, static_cast<size_t>(last + 1));
  rows.ChooseFields(places, table->row_id);
  return rows;
}

void NsysTable::ChooseFields(const std::vector<int>& places, int row_id) {
  own_fields_.resize(1);
  own_bytes_.resize(1);
  for (size_t column = 0; column < places.size(); ++column) {
    if (places[column] < 0) continue;
    fields_[column] = &rows_->field(static_cast<size_t>(places[column]));
    if (places[column] != row_id) continue;
    fields_[column] = own_fields_.data();
    row_id_place_ = row_id;
  }
}

Status NsysTable::Prepare(const std::vector<int>& places) {
  std::string query = "SELECT ";
  std::vector<size_t> chosen;
  for (size_t column = 0; column < places.size(); ++column) {
    if (places[column] < 0) continue;
    if (!chosen.empty()) query += ',';
    query += Quoted(columns_[column]);
    chosen.push_back(column);
  }
  if (chosen.empty()) query += "NULL";
  sqlite3_stmt* statement = nullptr;
  for (const char* row_id : {", rowid", ""}) {  // a view or WITHOUT ROWID has none
    const std::string text = query + row_id + " FROM " + Quoted(name_);
    has_row_ids_ = *row_id != '\0';
    if (sqlite3_prepare_v2(database_->handle(), text.c_str(), -1, &statement, nullptr) ==
        SQLITE_OK) {
      break;
    }
  }
  if (statement == nullptr) return database_->Error("cannot read table " + name_);
  statement_.reset(statement);
  own_fields_.resize(chosen.size());
  own_bytes_.resize(chosen.size());
  for (size_t place = 0; place < chosen.size(); ++place) {
    fields_[chosen[place]] = &own_fields_[place];
  }
  return Status();
}

// Counts a row. False with an error in status_ when reading has taken too much.
bool NsysTable::Count() {
  constexpr uint64_t kRowsBetweenChecks = 16384;
  if (++row_ % kRowsBetweenChecks == 0) status_ = database_->memory().Check();
  return status_.ok();
}

bool NsysTable::Next() {
  if (!status_.ok()) return false;
  if (!rows_.has_value()) return statement_ != nullptr && Step();
  if (!rows_->Next()) {
    if (rows_->damaged()) {
      status_ = database_->DamageError("table " + name_ + ", row " + std::to_string(row_ + 1));
    }
    return false;
  }
  if (!Count()) return false;
  if (row_id_place_ >= 0) {
    own_fields_[0] = rows_->field(static_cast<size_t>(row_id_place_));
    if (own_fields_[0].type == SqliteField::kNull) {
      own_bytes_[0] = __builtin_bswap64(static_cast<uint64_t>(rows_->row_id()));
      own_fields_[0] = {reinterpret_cast<const uint8_t*>(own_bytes_.data()), 8, 6};
    }
  }
  return true;
}

std::string NsysTable::Where() const {
  if (rows_.has_value()) return "rowid " + std::to_string(rows_->row_id());
  if (!has_row_ids_) return "row " + std::to_string(row_);
  const int last = sqlite3_column_count(statement_.get()) - 1;
  return "rowid " + std::to_string(sqlite3_column_int64(statement_.get(), last));
}

// The statement's row in the form that rows from the pages have.
bool NsysTable::Step() {
  const int step = sqlite3_step(statement_.get());
  if (step != SQLITE_ROW) {
    if (step != SQLITE_DONE) {
      status_ = database_->Error("table " + name_ + ", row " + std::to_string(row_ + 1));
    }
    return false;
  }
  if (!Count()) return false;
  for (size_t place = 0; place < own_fields_.size(); ++place) {
    const int column = static_cast<int>(place);
    const int type = sqlite3_column_type(statement_.get(), column);
    SqliteField& field = own_fields_[place];
    if (type == SQLITE_NULL) {
      field = {};
    } else if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
      const bool whole = type == SQLITE_INTEGER;
      const uint64_t bits =
          whole ? static_cast<uint64_t>(sqlite3_column_int64(statement_.get(), column))
                : std::bit_cast<uint64_t>(sqlite3_column_double(statement_.get(), column));
      own_bytes_[place] = __builtin_bswap64(bits);
      field = {reinterpret_cast<const uint8_t*>(&own_bytes_[place]), 8,
               whole ? uint8_t{6} : uint8_t{SqliteField::kReal}};
    } else {
      const auto* bytes =
          static_cast<const uint8_t*>(sqlite3_column_blob(statement_.get(), column));
      field = {bytes, static_cast<uint32_t>(sqlite3_column_bytes(statement_.get(), column)),
               SqliteField::kText};
      text_bytes_ += field.size;
    }
  }
  if (text_bytes_ <= kMostTextBytes + database_->file_bytes()) return true;
  status_ = database_->DamageError("table " + name_ + " holds more text than the file has bytes");
  return false;
}

int64_t NsysTable::IntFromOther(int column, int64_t if_absent) {
  const SqliteField& field = At(column);
  if (field.type == SqliteField::kNull) return if_absent;
  if (field.type == SqliteField::kReal) {
    const double real = field.Real();
    if (std::abs(real) < 9.2e18 && std::nearbyint(real) == real) return static_cast<int64_t>(real);
  }
  WrongType(column);
  return if_absent;
}

double NsysTable::Real(int column) {
  const SqliteField& field = At(column);
  if (field.type == SqliteField::kReal) return field.Real();
  if (field.IsInteger()) return static_cast<double>(field.Integer());
  if (field.type != SqliteField::kNull) WrongType(column);
  return 0;
}

std::string_view NsysTable::TextFromOther(int column) {
  const SqliteField& field = At(column);
  if (field.type == SqliteField::kNull) return {};
  number_texts_.resize(columns_.size());
  std::string& text = number_texts_[static_cast<size_t>(column)];
  text = field.IsInteger() ? std::to_string(field.Integer()) : std::to_string(field.Real());
  return text;
}

void NsysTable::WrongType(int column) {
  if (!status_.ok()) return;
  std::string message = database_->path() + ": table " + name_ + ", " + Where() + ": column " +
                        columns_[static_cast<size_t>(column)] + " holds ";
  AppendQuoted(Text(column).substr(0, 40), message);
  status_ = InputError(message + " where a whole number belongs");
}

}  // namespace batchlight
