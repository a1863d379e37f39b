// The shape every tabular answer has on its way to a person or a file: named, typed columns with
// units. Analyses fill it, reports and exports print it; neither side knows the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/result/sum_rule.h"

namespace batchlight {

enum class CellType {
  kText,
  kInteger,
  kReal,  // printed with `decimals` digits
};

// What a number measures: a writer may scale kTimeNs and kBytes for people, files keep the base.
enum class Unit { kNone, kTimeNs, kTimestampNs, kBytes, kPercent, kRate };

struct ResultColumn {
  std::string name;  // "Total Time": without the unit
  CellType type = CellType::kText;
  Unit unit = Unit::kNone;
  int decimals = 1;
  std::string help;  // one sentence for headers and tool tips
  // What code finds the column by, as `name` may be worded anew; "": no code asks for it.
  std::string key;
  SumRule sum;
  std::string help_of_steps;  // where a selection of steps is shown; "": `help`
  bool of_whole_run = false;  // whichever steps count
};

using Cell = std::variant<std::monostate, std::string, int64_t, double>;  // monostate = no value

// CellRow(start, "name", 1.5): a row without the copies of an initializer list.
template <typename... Values>
std::vector<Cell> CellRow(Values&&... values) {
  std::vector<Cell> cells;
  cells.reserve(sizeof...(values));
  (cells.emplace_back(std::forward<Values>(values)), ...);
  return cells;
}

struct ResultTable {
  std::string name;   // file-name safe: top_modules
  std::string title;  // for people: "Top modules"
  std::vector<ResultColumn> columns;
  std::vector<std::vector<Cell>> rows;
};

}  // namespace batchlight
