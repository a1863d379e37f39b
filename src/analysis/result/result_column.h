// The columns of a ResultTable, each declared once: key, title, unit, help, how it sums, and how a
// row gives its value. Terminal, CSV, JSON and the report page are all made from that.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/result/result_table.h"

namespace batchlight {

inline ResultColumn TextColumn(std::string key, std::string name, std::string help) {
  return {.name = std::move(name),
          .type = CellType::kText,
          .help = std::move(help),
          .key = std::move(key)};
}
inline ResultColumn CountColumn(std::string key, std::string name, std::string help) {
  return {.name = std::move(name),
          .type = CellType::kInteger,
          .help = std::move(help),
          .key = std::move(key)};
}
inline ResultColumn TimeColumn(std::string key, std::string name, std::string help) {
  return {.name = std::move(name),
          .type = CellType::kInteger,
          .unit = Unit::kTimeNs,
          .help = std::move(help),
          .key = std::move(key)};
}
inline ResultColumn BytesColumn(std::string key, std::string name, std::string help) {
  return {.name = std::move(name),
          .type = CellType::kInteger,
          .unit = Unit::kBytes,
          .help = std::move(help),
          .key = std::move(key)};
}
inline ResultColumn PercentColumn(std::string key, std::string name, std::string help) {
  return {.name = std::move(name),
          .type = CellType::kReal,
          .unit = Unit::kPercent,
          .decimals = 2,
          .help = std::move(help),
          .key = std::move(key)};
}
inline ResultColumn RealColumn(std::string key, std::string name, std::string help) {
  return {.name = std::move(name),
          .type = CellType::kReal,
          .decimals = 2,
          .help = std::move(help),
          .key = std::move(key)};
}

// Columns that are named as another tool names them, and that no code looks up.
inline ResultColumn TextColumn(std::string name, std::string help) {
  return TextColumn({}, std::move(name), std::move(help));
}
inline ResultColumn CountColumn(std::string name, std::string help) {
  return CountColumn({}, std::move(name), std::move(help));
}
inline ResultColumn TimeColumn(std::string name, std::string help) {
  return TimeColumn({}, std::move(name), std::move(help));
}

// The column of a number that is the whole run's, whichever steps count: no part of it shows it.
inline ResultColumn OfWholeRun(ResultColumn column) {
  column.of_whole_run = true;
  return column;
}

// The column with the rule by which its numbers are made again for steps that are selected.
inline ResultColumn Summed(const SumRule& sum, ResultColumn column,
                           std::string help_of_steps = {}) {
  column.sum = sum;
  column.help_of_steps = std::move(help_of_steps);
  return column;
}

inline Cell NumberCell(uint64_t value) { return static_cast<int64_t>(value); }
inline Cell NanosecondsCell(double value) { return static_cast<int64_t>(std::llround(value)); }
inline Cell RankCell(int32_t rank) { return rank < 0 ? Cell{} : Cell{int64_t{rank}}; }

// One column and its value.
template <typename Row>
struct ColumnOf {
  ResultColumn column;
  std::function<Cell(const Row& row)> value;
};

// Values of members that a cell does not hold as they are.
template <typename Row>
auto Nanoseconds(double Row::*ns) {
  return [ns](const Row& row) { return NanosecondsCell(row.*ns); };
}
template <typename Row>
auto Number(uint64_t Row::*count) {
  return [count](const Row& row) { return NumberCell(row.*count); };
}
template <typename Row>
auto Percent(double Row::*share) {
  return [share](const Row& row) { return row.*share * 100; };
}

template <typename Row>
using Columns = std::vector<ColumnOf<Row>>;

template <typename Row>
void Append(Columns<Row>& columns, const Columns<Row>& more) {
  columns.insert(columns.end(), more.begin(), more.end());
}

template <typename Row>
ResultTable EmptyTable(std::string name, std::string title, const Columns<Row>& columns) {
  ResultTable table{.name = std::move(name), .title = std::move(title)};
  for (const ColumnOf<Row>& entry : columns) table.columns.push_back(entry.column);
  return table;
}

template <typename Row>
void AddRow(ResultTable& table, const Columns<Row>& columns, const Row& row) {
  std::vector<Cell>& cells = table.rows.emplace_back();
  cells.reserve(columns.size());
  for (const ColumnOf<Row>& entry : columns) cells.push_back(entry.value(row));
}

template <typename Row, typename Rows>
ResultTable TableOf(std::string name, std::string title, const Columns<Row>& columns,
                    const Rows& rows) {
  ResultTable table = EmptyTable(std::move(name), std::move(title), columns);
  table.rows.reserve(rows.size());
  for (const Row& row : rows) AddRow(table, columns, row);
  return table;
}

}  // namespace batchlight
