#include "serve/table_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/page/page_columns.h"

namespace batchlight::serve {

using nlohmann::json;

namespace {

json CellJson(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* integer = std::get_if<int64_t>(&cell)) return *integer;
  const auto* real = std::get_if<double>(&cell);
  return real == nullptr || !std::isfinite(*real) ? json(nullptr) : json(*real);
}

}  // namespace

json TableJson(const ResultTable& table) {
  json columns = json::array();
  for (const ResultColumn& column : table.columns) {
    json out = PageColumn(column);
    out.erase("sum");
    columns.push_back(std::move(out));
  }
  json rows = json::array();
  for (const std::vector<Cell>& cells : table.rows) {
    json row = json::array();
    for (const Cell& cell : cells) row.push_back(CellJson(cell));
    rows.push_back(std::move(row));
  }
  return {{"key", table.name},
          {"title", table.title},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)}};
}

}  // namespace batchlight::serve
