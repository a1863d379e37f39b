#include "report/dlprof_files.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "report/csv.h"

namespace batchlight {
namespace {

std::string Header(const ResultColumn& column) {
  const std::string_view unit = BaseUnit(column.unit);
  return unit.empty() ? column.name : column.name + " (" + std::string(unit) + ")";
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string CellText(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return Quoted(*text);
  if (const auto* integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&cell)) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", *real);
    return text;
  }
  return "";
}

nlohmann::ordered_json CellJson(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* integer = std::get_if<int64_t>(&cell)) return *integer;
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return nullptr;
}

}  // namespace

std::string DlprofCsv(const ResultTable& table) {
  std::string csv = table.title + "\n";
  for (size_t i = 0; i < table.columns.size(); ++i) {
    csv += (i == 0 ? "" : ",") + Quoted(Header(table.columns[i]));
  }
  csv += "\n";
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) csv += (i == 0 ? "" : ",") + CellText(row[i]);
    csv += "\n";
  }
  return csv;
}

std::string DlprofJson(const ResultTable& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (size_t i = 0; i < row.size(); ++i) object[Header(table.columns[i])] = CellJson(row[i]);
    rows.push_back(std::move(object));
  }
  nlohmann::ordered_json document;
  document[table.title] = std::move(rows);
  // Names come from the program and may hold any bytes: what is not UTF-8 is replaced.
  return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace batchlight
