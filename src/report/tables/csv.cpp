#include "report/tables/csv.h"

#include <array>
#include <charconv>
#include <vector>

#include "base/printable_text.h"

namespace batchlight {
namespace {

template <typename Number>
void AppendNumber(std::string& out, Number value) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void AppendCell(std::string& out, const Cell& cell, bool spreadsheet) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    AppendCsvField(out, spreadsheet ? SpreadsheetText(*text) : *text);
  } else if (const auto* integer = std::get_if<int64_t>(&cell)) {
    AppendNumber(out, *integer);
  } else if (const auto* real = std::get_if<double>(&cell)) {
    AppendNumber(out, *real);  // the shortest text that reads back as the same number
  }
}

}  // namespace

std::string_view BaseUnit(Unit unit) {
  switch (unit) {
    case Unit::kTimeNs:
    case Unit::kTimestampNs:
      return "ns";
    case Unit::kBytes:
      return "bytes";
    case Unit::kPercent:
      return "%";
    case Unit::kNone:
    case Unit::kRate:
      return "";
  }
  return "";
}

std::string CsvHeading(const ResultColumn& column) {
  const std::string unit(BaseUnit(column.unit));
  const std::string_view name = column.name;
  const bool named = name.ends_with('(' + unit + ')') || name.ends_with('_' + unit);
  return unit.empty() || named ? column.name : column.name + " (" + unit + ')';
}

void AppendCsvField(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  AppendQuotedCsvField(out, text);
}

void AppendQuotedCsvField(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::string ToCsv(const RowSource& rows, bool spreadsheet) {
  std::string out;
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    if (i > 0) out += ',';
    AppendCsvField(out, CsvHeading(rows.columns[i]));
  }
  out += "\r\n";
  std::vector<Cell> cells(rows.columns.size());
  for (size_t row = 0; row < rows.row_count; ++row) {
    rows.fill(row, cells);
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out += ',';
      AppendCell(out, cells[i], spreadsheet);
    }
    out += "\r\n";
  }
  return out;
}

std::string ToCsv(const ResultTable& table, bool spreadsheet) {
  return ToCsv(RowsOf(table), spreadsheet);
}

}  // namespace batchlight
