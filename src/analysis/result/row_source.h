// A table whose rows are made when they are asked for: the answer may have millions of rows, its
// writer needs one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "analysis/result/result_table.h"

namespace batchlight {

struct RowSource {
  std::string name;   // file-name safe
  std::string title;  // for people
  std::vector<ResultColumn> columns;
  size_t row_count = 0;
  // Writes row `row` into `cells`, which has one cell per column. Several threads may call it.
  std::function<void(size_t row, std::vector<Cell>& cells)> fill;
};

// `table` must outlive the result.
inline RowSource RowsOf(const ResultTable& table) {
  return {table.name, table.title, table.columns, table.rows.size(),
          [&table](size_t row, std::vector<Cell>& cells) { cells = table.rows[row]; }};
}

// The result keeps the rows.
inline RowSource KeepRows(ResultTable table) {
  RowSource source{std::move(table.name), std::move(table.title), std::move(table.columns),
                   table.rows.size(), nullptr};
  source.fill = [rows = std::move(table.rows)](size_t row, std::vector<Cell>& cells) {
    cells = rows[row];
  };
  return source;
}

}  // namespace batchlight
