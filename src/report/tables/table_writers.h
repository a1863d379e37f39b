// One function per table format, and what they share.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "columnar/columnar_file.h"
#include "report/tables/table_format.h"

namespace batchlight {

// Whether numbers of the column get separators of thousands. nsys has them in all.
bool GroupsDigits(const TableFormat& format, const ResultColumn& column);

// The table being written and its output buffer. After an error of the sink all further output is
// dropped; Finish() reports the error.
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
    return ColumnHeading(rows_.columns[column], format_.units);
  }
  // The cells of a row, valid until the next call.
  const std::vector<Cell>& Row(size_t row) {
    rows_.fill(row, cells_);
    return cells_;
  }
  // put(row, cells, out) appends the text of one row to `out`. The rows of a large table are
  // formatted in parallel, so `put` may only read shared data.
  template <typename Put>
  void EachRow(const Put& put) {
    for (size_t begin = 0; begin < row_count() && !failed(); begin += kBlocks * kBlockRows) {
      const size_t end = std::min(row_count(), begin + kBlocks * kBlockRows);
      const size_t blocks = (end - begin + kBlockRows - 1) / kBlockRows;
      texts_.resize(std::max(texts_.size(), blocks));
      ParallelFor(blocks, [&](size_t block) {
        std::string& out = texts_[block];
        out.clear();
        std::vector<Cell> cells(rows_.columns.size());
        const size_t first = begin + block * kBlockRows;
        for (size_t row = first; row < std::min(end, first + kBlockRows); ++row) {
          rows_.fill(row, cells);
          put(row, cells, out);
        }
      });
      for (size_t block = 0; block < blocks; ++block) Pass(texts_[block]);
    }
  }
  void AppendCell(size_t column, const Cell& cell, std::string& text) const {
    AppendCellText(rows_.columns[column], cell, format_.units, text);
  }

  std::string& buffer() { return buffer_; }
  bool failed() const { return !status_.ok(); }
  Status Finish() {
    Pass({});
    return std::move(status_);
  }

 private:
  static constexpr size_t kBlockRows = 1024;
  static constexpr size_t kBlocks = 32;
  // Writes what is in the buffer, then `text`.
  void Pass(std::string_view text) {
    if (status_.ok() && !buffer_.empty()) status_ = sink_(buffer_);
    buffer_.clear();
    if (status_.ok() && !text.empty()) status_ = sink_(text);
  }

  const TableFormat& format_;
  const RowSource& rows_;
  const TextSink& sink_;
  std::vector<Cell> cells_;
  std::string buffer_;
  std::vector<std::string> texts_;  // of the blocks being made
  Status status_;
};

void WriteTextTable(TableOutput& output);  // column and table
void WriteCsv(TableOutput& output);
void WriteTsv(TableOutput& output);
void WriteJson(TableOutput& output);
void WriteHtml(TableOutput& output);  // hdoc and htable
void WriteMarkdown(TableOutput& output);
// Parquet and Arrow: columns have the headings of csv and base units. Errors: those of the sink.
Status WriteColumnar(ColumnarFormat format, const RowSource& rows, const TextSink& sink);

void AppendHtmlEscaped(std::string_view text, std::string& html);  // between tags

}  // namespace batchlight
