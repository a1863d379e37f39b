// A small nsys export that has every table the importer reads, for mutation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct sqlite3;

namespace batchlight::fuzz {

struct CloseSqlite {
  void operator()(sqlite3* database) const;
};
using SqliteInMemory = std::unique_ptr<sqlite3, CloseSqlite>;

// What our exporter makes of a real recording, cut to a few rows a table, with the tables of other
// families beside. The bytes of a database file.
std::string NsysSeed();

SqliteInMemory OpenBytes(const std::string& bytes);
std::string BytesOf(sqlite3* database);
// False: the statement failed.
bool Execute(sqlite3* database, const std::string& sql);

struct SeedTable {
  std::string name;
  std::vector<std::string> columns;
};
std::vector<SeedTable> TablesOf(sqlite3* database);

}  // namespace batchlight::fuzz
