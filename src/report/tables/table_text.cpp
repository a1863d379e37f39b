// The column and table formats: text for people.
#include <algorithm>

#include "base/printable_text.h"
#include "report/tables/table_writers.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

constexpr std::string_view kEllipsis = "…";

// Characters roughly as a terminal counts them: bytes that do not continue a UTF-8 sequence.
size_t Width(std::string_view text) {
  size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return width;
}

std::string_view FirstCharacters(std::string_view text, size_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool starts = (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
    if (starts && count-- == 0) break;
  }
  return text.substr(0, at);
}

// 1541234775.5 as 1,541,234,775.5.
void GroupDigits(std::string& number) {
  size_t end = number.find('.');
  if (end == std::string::npos) end = number.size();
  const size_t begin = number.starts_with('-') ? 1 : 0;
  for (size_t at = end; at > begin + 3;) {
    at -= 3;
    number.insert(at, 1, ',');
  }
}

enum class Align { kLeft, kRight, kCenter };

class TextTable {
 public:
  explicit TextTable(TableOutput& output)
      : output_(output), boxed_(output.format().kind == TableKind::kTable) {}

  void Write() {
    Measure();
    WriteTitle();
    if (widths_.empty()) return;
    if (boxed_) Rule('-', '+');
    if (output_.format().header) {
      std::string& out = output_.buffer();
      Begin(out);
      for (size_t c = 0; c < widths_.size(); ++c) Put(out, c, output_.Heading(c), Align::kCenter);
      End(out);
      if (boxed_) {
        Rule('-', '+');
      } else {
        Begin(out);
        for (size_t c = 0; c < widths_.size(); ++c) {
          Put(out, c, std::string(widths_[c], '-'), Align::kLeft);
        }
        End(out);
      }
    }
    output_.EachRow([&](size_t, const std::vector<Cell>& cells, std::string& out) {
      Begin(out);
      for (size_t c = 0; c < widths_.size(); ++c) {
        const bool text = std::holds_alternative<std::string>(cells[c]) || !numeric_[c];
        Put(out, c, Text(c, cells[c]), text ? Align::kLeft : Align::kRight);
      }
      End(out);
    });
    if (boxed_) Rule('-', '+');
  }

 private:
  std::string Text(size_t column, const Cell& cell) const {
    std::string text;
    output_.AppendCell(column, cell, text);
    const bool number =
        std::holds_alternative<int64_t>(cell) || std::holds_alternative<double>(cell);
    const TableFormat& format = output_.format();
    if (number && numeric_[column] && GroupsDigits(format, output_.columns()[column])) {
      GroupDigits(text);
    }
    if (number) return text;
    // A line break or tab in a name must not break the table, nor an escape sequence the terminal.
    return format.nsys_compat ? PrintableText(text) : CleanText(text);
  }

  void Measure() {
    const TableFormat& format = output_.format();
    const size_t columns = output_.columns().size();
    const size_t measured = std::min(format.rows_measured, output_.row_count());
    widths_.assign(columns, 0);
    for (size_t c = 0; c < columns; ++c) widths_[c] = Width(output_.Heading(c));
    FindNumbers(measured);
    for (size_t row = 0; row < measured; ++row) {
      const std::vector<Cell>& cells = output_.Row(row);
      for (size_t c = 0; c < columns; ++c) {
        widths_[c] = std::max(widths_[c], Width(Text(c, cells[c])));
      }
    }
    for (size_t c = 0; c < columns; ++c) {
      widths_[c] = std::min(widths_[c], format.widest_column);
      if (c < format.widths.size() && format.widths[c] >= 0) {
        widths_[c] = static_cast<size_t>(format.widths[c]);
      }
    }
  }

  // As in nsys, a column is text if none of its measured rows holds a number.
  void FindNumbers(size_t measured) {
    numeric_.assign(output_.columns().size(), false);
    size_t missing = 0;
    for (const ResultColumn& column : output_.columns()) missing += column.type != CellType::kText;
    for (size_t row = 0; row < measured && missing > 0; ++row) {
      const std::vector<Cell>& cells = output_.Row(row);
      for (size_t c = 0; c < cells.size(); ++c) {
        if (numeric_[c] || output_.columns()[c].type == CellType::kText) continue;
        numeric_[c] =
            std::holds_alternative<int64_t>(cells[c]) || std::holds_alternative<double>(cells[c]);
        missing -= numeric_[c];
      }
    }
  }

  void WriteTitle() {
    if (output_.title().empty()) return;
    output_.buffer() += "\n ** " + output_.title() + " (" + output_.name() + "):\n\n";
  }

  bool Hidden(size_t column) const { return widths_[column] == 0; }

  void Begin(std::string& out) const {
    if (boxed_) out += '|';
  }
  void End(std::string& out) const { out += '\n'; }

  void Put(std::string& out, size_t column, std::string_view text, Align align) const {
    if (Hidden(column)) return;
    const size_t width = widths_[column];
    std::string clipped;
    if (Width(text) > width) {
      clipped = std::string(FirstCharacters(text, width - 1)) + std::string(kEllipsis);
      text = clipped;
    }
    const size_t pad = width - Width(text);
    const size_t left = align == Align::kLeft ? 0 : align == Align::kRight ? pad : pad / 2;
    out += boxed_ || out.empty() || out.back() == '\n' ? " " : "  ";
    out.append(left, ' ');
    out += text;
    out.append(pad - left, ' ');
    if (boxed_) out += " |";
  }

  void Rule(char line, char corner) {
    std::string& out = output_.buffer();
    out += corner;
    for (size_t c = 0; c < widths_.size(); ++c) {
      if (Hidden(c)) continue;
      out.append(widths_[c] + 2, line);
      out += corner;
    }
    out += '\n';
  }

  TableOutput& output_;
  const bool boxed_;
  std::vector<size_t> widths_;
  std::vector<bool> numeric_;
};

}  // namespace

void WriteTextTable(TableOutput& output) { TextTable(output).Write(); }

}  // namespace batchlight
