#include "report/tables/people_table.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/tables/table_writers.h"
#include "report/text/kernel_text.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

constexpr size_t kFewestColumns = 2;
constexpr size_t kLeastText = 12;

std::optional<double> NumberOf(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return std::nullopt;
}

bool IsTime(Unit unit) { return unit == Unit::kTimeNs || unit == Unit::kTimestampNs; }

// The median of those that are not 0: one long warm-up step must not make all others 0.005 s.
double TypicalNumber(size_t index, const ResultTable& table) {
  std::vector<double> numbers;
  for (const auto& row : table.rows) {
    const double number = std::abs(NumberOf(row[index]).value_or(0));
    if (number > 0) numbers.push_back(number);
  }
  if (numbers.empty()) return 0;
  const auto middle = numbers.begin() + static_cast<ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

void SuitColumn(size_t index, ResultTable* table) {
  ResultColumn& column = table->columns[index];
  const double typical = TypicalNumber(index, *table);
  const Scale scale = IsTime(column.unit) ? TimeScale(typical) : BytesScale(typical);
  if (scale.factor != 1) {
    // Moments are shown to the microsecond, so that they can be told apart.
    column.decimals = column.unit == Unit::kTimestampNs
                          ? static_cast<int>(std::lround(std::log10(scale.factor))) - 3
                          : DecimalsFor(typical / scale.factor, 4);
    column.type = CellType::kReal;
    for (auto& row : table->rows) {
      const std::optional<double> number = NumberOf(row[index]);
      if (number) row[index] = *number / scale.factor;
    }
  }
  const std::string_view unit = scale.unit == "µs" ? "us" : scale.unit;  // as --timeunit shows it
  column.name += " (" + std::string(unit) + ")";
  column.unit = Unit::kNone;
}

size_t WidthOf(const ResultColumn& column, const Cell& cell, const TableFormat& format) {
  const std::string text = CellText(column, cell, format.units);
  if (std::holds_alternative<std::string>(cell)) return CharacterCount(CleanText(text));
  const size_t digits = std::min(text.find('.'), text.size()) - (text.starts_with('-') ? 1 : 0);
  const bool grouped = GroupsDigits(format, column) && NumberOf(cell).has_value() && digits > 0;
  return text.size() + (grouped ? (digits - 1) / 3 : 0);
}

struct ColumnWidth {
  size_t heading = 0;
  size_t now = 0;
  bool text = false;
};

std::vector<ColumnWidth> NaturalWidths(const TableFormat& format, const ResultTable& table) {
  std::vector<ColumnWidth> widths;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const ResultColumn& column = table.columns[c];
    ColumnWidth width{.heading = CharacterCount(ColumnHeading(column, format.units)),
                      .text = column.type == CellType::kText};
    width.now = width.heading;
    for (const auto& row : table.rows) {
      width.now = std::max(width.now, WidthOf(column, row[c], format));
    }
    width.now = std::min(width.now, std::max(width.heading, format.widest_column));
    widths.push_back(width);
  }
  return widths;
}

// What the first `count` columns take with what stands between them.
size_t LineWidth(const std::vector<ColumnWidth>& widths, size_t count, TableKind kind) {
  size_t line = 0;
  for (size_t c = 0; c < count; ++c) line += widths[c].now;
  return kind == TableKind::kTable ? line + 3 * count + 1 : line + 2 * count - 1;
}

// Narrows the widest of the texts until the columns fit; false: they cannot.
bool Narrow(size_t count, size_t width, TableKind kind, std::vector<ColumnWidth>& widths) {
  const size_t first_least = std::clamp<size_t>(width * 2 / 5, kLeastText, 60);
  for (size_t line = LineWidth(widths, count, kind); line > width; --line) {
    ColumnWidth* widest = nullptr;
    for (size_t c = 0; c < count; ++c) {
      const size_t least = std::max(widths[c].heading, c == 0 ? first_least : kLeastText);
      if (!widths[c].text || widths[c].now <= least) continue;
      if (widest == nullptr || widths[c].now > widest->now) widest = &widths[c];
    }
    if (widest == nullptr) return false;
    --widest->now;
  }
  return true;
}

void ElideTexts(const std::vector<ColumnWidth>& widths, ResultTable* table) {
  for (size_t c = 0; c < table->columns.size(); ++c) {
    const bool kernels = table->name == "kernels" && table->columns[c].key == "name";
    for (auto& row : table->rows) {
      auto* text = std::get_if<std::string>(&row[c]);
      if (text == nullptr) continue;
      std::string clean = CleanText(*text);
      // The label tells kernels apart whose names begin and end alike.
      if (kernels && CharacterCount(clean) > widths[c].now) clean = CleanText(KernelLabel(*text));
      *text = ElideMiddle(clean, widths[c].now);
    }
  }
}

}  // namespace

void SuitUnits(ResultTable* table) {
  for (size_t c = 0; c < table->columns.size(); ++c) {
    const Unit unit = table->columns[c].unit;
    if (IsTime(unit) || unit == Unit::kBytes) SuitColumn(c, table);
  }
}

std::vector<std::string> FitWidth(const TableFormat& format, size_t width, ResultTable* table) {
  const std::vector<ColumnWidth> natural = NaturalWidths(format, *table);
  std::vector<ColumnWidth> widths = natural;
  size_t count = natural.size();
  while (!Narrow(count, width, format.kind, widths) && count > kFewestColumns) {
    widths = natural;
    --count;
  }
  std::vector<std::string> left_out;
  for (size_t c = count; c < table->columns.size(); ++c) {
    left_out.push_back(table->columns[c].name);
  }
  table->columns.resize(count);
  for (auto& row : table->rows) row.resize(count);
  ElideTexts(widths, table);
  return left_out;
}

}  // namespace batchlight
