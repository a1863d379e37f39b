// Short ways to write the columns of a ResultTable.
#pragma once

#include <cmath>
#include <string>

#include "analysis/result/result_table.h"

namespace batchlight {

inline ResultColumn TextColumn(std::string name, std::string help) {
  return {.name = std::move(name), .type = CellType::kText, .help = std::move(help)};
}
inline ResultColumn CountColumn(std::string name, std::string help) {
  return {.name = std::move(name), .type = CellType::kInteger, .help = std::move(help)};
}
inline ResultColumn TimeColumn(std::string name, std::string help) {
  return {.name = std::move(name),
          .type = CellType::kInteger,
          .unit = Unit::kTimeNs,
          .help = std::move(help)};
}
inline ResultColumn BytesColumn(std::string name, std::string help) {
  return {.name = std::move(name),
          .type = CellType::kInteger,
          .unit = Unit::kBytes,
          .help = std::move(help)};
}
inline ResultColumn PercentColumn(std::string name, std::string help) {
  return {.name = std::move(name),
          .type = CellType::kReal,
          .unit = Unit::kPercent,
          .decimals = 2,
          .help = std::move(help)};
}
inline ResultColumn RealColumn(std::string name, std::string help) {
  return {.name = std::move(name), .type = CellType::kReal, .decimals = 2, .help = std::move(help)};
}

inline Cell NumberCell(uint64_t value) { return static_cast<int64_t>(value); }
inline Cell NanosecondsCell(double value) { return static_cast<int64_t>(std::llround(value)); }
inline Cell RankCell(int32_t rank) { return rank < 0 ? Cell{} : Cell{int64_t{rank}}; }

}  // namespace batchlight
