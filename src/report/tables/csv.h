// A table as CSV by RFC 4180: header "Name (unit)", numbers raw in the base unit, CRLF line ends.
#pragma once

#include <string>
#include <string_view>

#include "analysis/result/result_table.h"
#include "analysis/result/row_source.h"

namespace batchlight {

// Appends one field, quoted if it holds a comma, a quote or a line end.
void AppendCsvField(std::string& out, std::string_view text);
// The same, always quoted.
void AppendQuotedCsvField(std::string& out, std::string_view text);

// `spreadsheet`: no text that could be a formula (base/printable_text.h).
std::string ToCsv(const RowSource& rows, bool spreadsheet = false);
std::string ToCsv(const ResultTable& table, bool spreadsheet = false);

// "ns", "bytes", "%"; "" for kNone and kRate, whose unit is in the column's name.
std::string_view BaseUnit(Unit unit);
// "Total Time (ns)".
std::string CsvHeading(const ResultColumn& column);

}  // namespace batchlight
