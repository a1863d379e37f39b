#include "nsys/table.h"

#include "base/split.h"

namespace batchlight::nsys {

void AddWord(std::string_view word, std::string& words) {
  if (!words.empty()) words += ' ';
  words += word;
}

void AddSpelling(const Spelling& spelling, std::vector<Spelling>& columns) {
  columns.push_back(spelling);
}

void AddSchemaColumn(const Spelling& spelling, std::string_view mark, std::string& columns) {
  AddWord(spelling.name(), columns);
  columns += mark;
  columns += spelling.is_primary_key()   ? "!P"
             : spelling.is_part_of_key() ? "!K"
             : spelling.is_required()    ? "!"
                                         : "";
}

std::string CreateStatement(std::string_view table, std::string_view columns) {
  std::string sql = "CREATE TABLE \"" + std::string(table) + "\" (";
  std::string key;
  bool first = true;
  for (const std::string_view text : SplitAt(columns, ' ')) {
    const Spelling column(text);
    if (!first) sql += ", ";
    first = false;
    sql += '"' + std::string(column.name()) + '"';
    sql += column.is_text() ? " TEXT" : column.is_real() ? " REAL" : " INTEGER";
    if (column.is_required()) sql += " NOT NULL";
    if (column.is_primary_key()) sql += " PRIMARY KEY";
    if (column.is_part_of_key()) {
      key += (key.empty() ? "\"" : ", \"") + std::string(column.name()) + '"';
    }
  }
  if (!key.empty()) sql += ", PRIMARY KEY (" + key + ")";
  return sql + ")";
}

}  // namespace batchlight::nsys
