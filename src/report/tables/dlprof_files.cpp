#include "report/tables/dlprof_files.h"

#include "base/json_text.h"
#include "report/tables/csv.h"
#include "report/tables/table_format.h"

namespace batchlight {
namespace {

std::string Heading(const ResultColumn& column) { return ColumnHeading(column, DisplayUnits()); }

}  // namespace

std::string DlprofCsv(const ResultTable& table) {
  std::string csv = table.title + "\n";
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (i > 0) csv += ',';
    AppendQuotedCsvField(csv, Heading(table.columns[i]));
  }
  csv += '\n';
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) csv += ',';
      if (const auto* text = std::get_if<std::string>(&row[i])) {
        AppendQuotedCsvField(csv, *text);
      } else {
        AppendCellText(table.columns[i], row[i], DisplayUnits(), csv);
      }
    }
    csv += '\n';
  }
  return csv;
}

std::string DlprofJson(const ResultTable& table) {
  std::string json = "{\n\"";
  AppendJsonEscaped(table.title, json);
  return json + "\": " + TableText({.kind = TableKind::kJson}, RowsOf(table)) + "}\n";
}

ResultTable DlprofColumns(const std::vector<ResultTable>& reports) {
  ResultTable meanings{.name = "columns", .title = "Columns"};
  meanings.columns = {{.name = "Report"}, {.name = "Column"}, {.name = "Meaning"}};
  for (const ResultTable& report : reports) {
    for (const ResultColumn& column : report.columns) {
      meanings.rows.push_back({report.title, Heading(column), column.help});
    }
  }
  return meanings;
}

}  // namespace batchlight
