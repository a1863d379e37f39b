// Writes a table of results in one of the formats of `stats`: text tables for people, and csv, tsv,
// json, HTML, Markdown, Parquet and Arrow for files. Bytes are those of nsys where it has the
// format.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/result/row_source.h"
#include "base/status.h"
#include "report/text/display_units.h"

namespace batchlight {

enum class TableKind {
  kColumn,
  kTable,
  kCsv,
  kTsv,
  kJson,
  kHdoc,
  kHtable,
  kMarkdown,
  kParquet,
  kArrow
};

// "column:nohdr:10:.:0", parsed.
struct TableFormat {
  TableKind kind = TableKind::kColumn;
  bool header = true;          // nohdr
  size_t rows_measured = 100;  // autolines= (column, table): rows that widths are fitted to
  size_t widest_column = 100;  // colmax= (column, table): characters
  bool group_digits = true;    // nofmt: numbers as they are
  bool escape_tabs = false;    // esc (tsv): \t instead of a space
  bool spreadsheet = false;    // spreadsheet (csv, tsv): no text that could be a formula
  std::vector<int> widths;     // of columns; -1 by the data, 0 hides the column
  std::string title;           // title= (hdoc)
  std::string css;             // css= (hdoc): address of a style sheet
  DisplayUnits units;
  // Writes quotes and line breaks in names exactly as nsys does, even where that is not valid JSON
  // or CSV.
  bool nsys_compat = false;

  std::string_view extension() const;  // "csv", "txt", ...
  // Bytes that are no text.
  bool is_binary() const { return kind == TableKind::kParquet || kind == TableKind::kArrow; }
  bool for_people() const { return kind == TableKind::kColumn || kind == TableKind::kTable; }
};

// `units` apply where the format names none. Errors (kUsage): unknown format or argument.
Result<TableFormat> ParseTableFormat(std::string_view text, const DisplayUnits& units = {});

// Receives the bytes as they are produced.
using TextSink = std::function<Status(std::string_view bytes)>;

// Errors: those of the sink.
Status WriteTable(const TableFormat& format, const RowSource& rows, const TextSink& sink);
std::string TableText(const TableFormat& format, const RowSource& rows);

// "column", "csv", ...
std::vector<std::string_view> TableFormatNames();

// The text of --help-formats: for one format, or for all with "" and "ALL". Errors (kUsage): no
// such format.
Result<std::string> TableFormatHelp(std::string_view name = {});

}  // namespace batchlight
