// Whole numbers that say which thing a row is about, as a process or a step: nobody adds them up,
// and no separator of thousands belongs into them.
#pragma once

#include <algorithm>
#include <string_view>

#include "analysis/result/result_table.h"

namespace batchlight {

inline constexpr std::string_view kIdentifiers[] = {
    "pid",    "tid",          "holder_tid",     "releaser_tid", "rank",
    "device", "step",         "longest_step",   "stream",       "context",
    "line",   "communicator", "measured_kernel"};

inline bool IsIdentifier(const ResultColumn& column) {
  return column.type == CellType::kInteger && column.unit == Unit::kNone &&
         std::find(std::begin(kIdentifiers), std::end(kIdentifiers), column.key) !=
             std::end(kIdentifiers);
}

}  // namespace batchlight
