// Makes a table suit the person who reads it as text: units by the size of the numbers, and no line
// wider than the terminal. Files are written from tables that have not been through here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/result/result_table.h"
#include "report/tables/table_format.h"

namespace batchlight {

// Each column of times or sizes in the unit of its typical number: "Total (ms)", "Held (MiB)".
void SuitUnits(ResultTable* table);

// Fits a table that `format` (column or table) shows into `width` characters: long texts lose their
// middle, then columns at the end go. Returns the names of those that went.
std::vector<std::string> FitWidth(const TableFormat& format, size_t width, ResultTable* table);

}  // namespace batchlight
