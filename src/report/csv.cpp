#include "report/csv.h"

#include <array>
#include <charconv>

namespace batchlight {
namespace {

template <typename Number>
void AppendNumber(std::string& out, Number value) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void AppendCell(std::string& out, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    AppendCsvField(out, *text);
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

void AppendCsvField(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::string ToCsv(const ResultTable& table) {
  std::string out;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const ResultColumn& column = table.columns[i];
    const std::string_view unit = BaseUnit(column.unit);
    const bool named = unit.empty() || column.name == unit;
    if (i > 0) out += ',';
    AppendCsvField(out, named ? column.name : column.name + " (" + std::string(unit) + ")");
  }
  out += "\r\n";
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      AppendCell(out, row[i]);
    }
    out += "\r\n";
  }
  return out;
}

}  // namespace batchlight
