// Writes a table of results in one of the formats of `stats`: text tables for people, and csv, tsv,
// json, HTML and Markdown for files. Bytes are those of nsys where it has the format.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/row_source.h"
#include "base/status.h"

namespace batchlight {

enum class TableKind { kColumn, kTable, kCsv, kTsv, kJson, kHdoc, kHtable, kMarkdown };
enum class TimeUnit { kNanoseconds, kMicroseconds, kMilliseconds, kSeconds };

// "column:nohdr:10:.:0", parsed.
struct TableFormat {
  TableKind kind = TableKind::kColumn;
  bool header = true;        // nohdr
  bool limit_width = true;   // nolimit: columns may be wider than 100 characters
  bool group_digits = true;  // nofmt: numbers as they are
  bool escape_tabs = false;  // esc (tsv): \t instead of a space
  std::vector<int> widths;   // of columns; -1 by the data, 0 hides the column
  std::string title;         // title= (hdoc)
  std::string css;           // css= (hdoc): address of a style sheet
  TimeUnit time_unit = TimeUnit::kNanoseconds;
  // Numbers inside json strings and quotes exactly as nsys writes them, valid JSON or not.
  bool nsys_compat = false;

  std::string_view extension() const;  // "csv", "txt", ...
  bool for_people() const { return kind == TableKind::kColumn || kind == TableKind::kTable; }
};

// Errors (kUsage): unknown format or argument.
Result<TableFormat> ParseTableFormat(std::string_view text);
// "nanoseconds", "nsec", "ms", ...: any prefix that nsys takes. Errors (kUsage).
Result<TimeUnit> ParseTimeUnit(std::string_view text);

// Takes the bytes as they come.
using TextSink = std::function<Status(std::string_view bytes)>;

// Errors: those of the sink.
Status WriteTable(const TableFormat& format, const RowSource& rows, const TextSink& sink);
std::string TableText(const TableFormat& format, const RowSource& rows);

// The header of a column, with its unit: "Total Time (ns)".
std::string ColumnHeading(const ResultColumn& column, TimeUnit unit);
// A cell as files show it, without grouping: "1541234775", "25.166", "".
std::string CellText(const ResultColumn& column, const Cell& cell, TimeUnit unit);
void AppendCellText(const ResultColumn& column, const Cell& cell, TimeUnit unit, std::string& text);

// For --help-formats.
std::string_view TableFormatHelp();

}  // namespace batchlight
