// One function per table format, and what they share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/table_format.h"

namespace batchlight {

// The table being written and the bytes on their way out. After an error of the sink everything
// else is dropped; Finish() reports it.
class TableOutput {
 public:
  TableOutput(const TableFormat& format, const RowSource& rows, const TextSink& sink)
      : format_(format), rows_(rows), sink_(sink), cells_(rows.columns.size()) {}

  const TableFormat& format() const { return format_; }
  const std::vector<ResultColumn>& columns() const { return rows_.columns; }
  size_t row_count() const { return rows_.row_count; }
  const std::string& title() const { return rows_.title; }
  const std::string& name() const { return rows_.name; }

  std::string Heading(size_t column) const {
    return ColumnHeading(rows_.columns[column], format_.time_unit);
  }
  // The cells of a row, valid until the next call.
  const std::vector<Cell>& Row(size_t row) {
    rows_.fill(row, cells_);
    return cells_;
  }
  void AppendCell(size_t column, const Cell& cell, std::string& text) const {
    AppendCellText(rows_.columns[column], cell, format_.time_unit, text);
  }

  std::string& buffer() { return buffer_; }
  // Call after every row: passes the buffer on when it is large.
  void RowDone() {
    if (buffer_.size() > kFlushBytes) Flush();
  }
  bool failed() const { return !status_.ok(); }
  Status Finish() {
    Flush();
    return std::move(status_);
  }

 private:
  static constexpr size_t kFlushBytes = 1 << 16;
  void Flush() {
    if (status_.ok() && !buffer_.empty()) status_ = sink_(buffer_);
    buffer_.clear();
  }

  const TableFormat& format_;
  const RowSource& rows_;
  const TextSink& sink_;
  std::vector<Cell> cells_;
  std::string buffer_;
  Status status_;
};

void WriteTextTable(TableOutput& output);  // column and table
void WriteCsv(TableOutput& output);
void WriteTsv(TableOutput& output);
void WriteJson(TableOutput& output);
void WriteHtml(TableOutput& output);  // hdoc and htable
void WriteMarkdown(TableOutput& output);

void AppendHtmlEscaped(std::string_view text, std::string& html);

}  // namespace batchlight
