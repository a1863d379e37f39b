// Lines of text for a terminal: tones, bars, sparklines and tables that fit a width. Everything is
// built as UTF-8; what the terminal cannot show is replaced when a piece is added.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight {

struct TerminalStyle {
  int width = 80;
  int terminal_width = 0;  // the whole of it, for tables; 0 = no terminal
  bool color = false;
  bool unicode = true;

  // What `out` can show: colour only on a terminal, without NO_COLOR and with TERM other than dumb;
  // its width, or 80 (100 at most looks best); UTF-8 by LC_ALL, LC_CTYPE, LANG.
  static TerminalStyle Of(FILE* out);
};

enum class Tone : uint8_t {
  kPlain,
  kTitle,   // section headings
  kStrong,  // the numbers one looks for
  kDim,     // labels, axes
  kWarning,
  kLoss,  // data loss
  kBlue,
  kCyan,
  kGreen,
  kYellow,
  kMagenta,
  kRed,
};

class SummaryText {
 public:
  explicit SummaryText(const TerminalStyle& style) : style_(style) {}

  SummaryText& Put(std::string_view text, Tone tone = Tone::kPlain);
  SummaryText& PadTo(size_t column);  // spaces, at least one if something stands there
  SummaryText& EndLine();
  void Line(std::string_view text, Tone tone = Tone::kPlain) { Put(text, tone).EndLine(); }
  // Words of `text`, broken at the width; following lines begin at `indent`.
  void Wrapped(std::string_view text, size_t indent, Tone tone = Tone::kPlain);
  void Title(std::string_view text);  // a blank line and the heading

  size_t width() const { return static_cast<size_t>(style_.width); }
  bool unicode() const { return style_.unicode; }
  size_t column() const { return column_; }
  const std::string& text() const { return text_; }

 private:
  TerminalStyle style_;
  std::string text_;
  size_t column_ = 0;
};

// A bar of `width` places, filled to `fraction` in eighths of a place (whole places in ASCII).
std::string BarText(double fraction, size_t width, bool unicode);
// One glyph for a height of 0 to 1.
std::string_view SparkGlyph(double height, bool unicode);

// A table: the first column takes the room that the others leave; where that is too little, its
// texts lose their middle.
class SummaryTable {
 public:
  struct Column {
    std::string header;
    bool right = true;
    // The least width of the terminal for the column to be shown. A column with a limit is also
    // dropped, the largest limit first, before names lose their middle.
    int least_width = 0;
    bool bar = false;      // cells are fractions, drawn up to 24 places wide
    bool cut_end = false;  // texts that are too long lose their end instead of their middle
  };
  struct Cell {
    std::string text;
    Tone tone = Tone::kPlain;
    double fraction = 0;
  };

  SummaryTable(SummaryText& out, std::vector<Column> columns);
  void Row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  // `title` is the header of the first column, `note` a line below.
  void Print(std::string_view title, std::string_view note = {});

 private:
  size_t NaturalWidth(size_t column) const;
  std::vector<size_t> Widths(size_t title_width);
  void CutTexts(const std::vector<size_t>& widths);
  void PrintCell(const Cell& cell, size_t column, size_t width);

  SummaryText& out_;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace batchlight
