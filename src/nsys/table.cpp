#include "nsys/table.h"

#include "base/split.h"

namespace batchlight::nsys {

std::string CreateStatement(std::string_view table, std::string_view columns) {
  std::string sql = "CREATE TABLE \"" + std::string(table) + "\" (";
  bool first = true;
  for (const std::string_view text : SplitAt(columns, ' ')) {
    const Spelling column(text);
    if (!first) sql += ", ";
    first = false;
    sql += '"' + std::string(column.name()) + '"';
    sql += column.is_text() ? " TEXT" : column.is_real() ? " REAL" : " INTEGER";
    if (column.is_required()) sql += " NOT NULL";
    if (column.is_primary_key()) sql += " PRIMARY KEY";
  }
  return sql + ")";
}

}  // namespace batchlight::nsys
