// Columns of a table, found by key and chosen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/result/result_table.h"

namespace batchlight {

// The place of the first column with the key; the number of columns where there is none.
inline size_t ColumnWithKey(const ResultTable& table, std::string_view key) {
  const auto at = std::find_if(table.columns.begin(), table.columns.end(),
                               [&](const ResultColumn& column) { return column.key == key; });
  return static_cast<size_t>(at - table.columns.begin());
}

// Leaves the columns at these places, each at most once, in this order.
inline void KeepColumns(const std::vector<size_t>& places, ResultTable* table) {
  const auto keep = [&](auto& values) {
    auto all = std::move(values);
    values.clear();
    values.reserve(places.size());
    for (const size_t place : places) values.push_back(std::move(all[place]));
  };
  keep(table->columns);
  for (std::vector<Cell>& row : table->rows) keep(row);
}

}  // namespace batchlight
