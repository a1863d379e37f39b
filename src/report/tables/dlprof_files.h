// DLProf's report files. CSV: first line the title, second the header, then rows; text in double
// quotes, yes/no, integer ns, percentages with one decimal. JSON: one object whose key is the title
// and whose value is the array of rows keyed by column.
#pragma once

#include <string>
#include <vector>

#include "analysis/result/result_table.h"

namespace batchlight {

std::string DlprofCsv(const ResultTable& table);
std::string DlprofJson(const ResultTable& table);

// Explains every column of the reports, because the formats above have no room for that.
ResultTable DlprofColumns(const std::vector<ResultTable>& reports);

}  // namespace batchlight
