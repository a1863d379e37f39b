#include "report/terminal/summary_text.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/terminal.h"
#include "report/text/told_apart.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kGap = 2;
constexpr size_t kWidestBar = 24;

std::string_view Escape(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return "";
    case Tone::kTitle:
      return "\x1b[1;36m";
    case Tone::kStrong:
      return "\x1b[1m";
    case Tone::kDim:
      return "\x1b[2m";
    case Tone::kWarning:
      return "\x1b[33m";
    case Tone::kLoss:
      return "\x1b[1;31m";
    case Tone::kBlue:
      return "\x1b[34m";
    case Tone::kCyan:
      return "\x1b[36m";
    case Tone::kGreen:
      return "\x1b[32m";
    case Tone::kYellow:
      return "\x1b[33m";
    case Tone::kMagenta:
      return "\x1b[35m";
    case Tone::kRed:
      return "\x1b[31m";
  }
  return "";
}

struct Substitute {
  std::string_view character;
  std::string_view ascii;
};
constexpr Substitute kSubstitutes[] = {{"µ", "u"}, {"…", "~"}, {"·", "|"}, {"×", "x"},
                                       {"→", ">"}, {"–", "-"}, {"±", "+-"}};

std::string ToAscii(std::string_view text) {
  std::string ascii;
  for (size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ascii += text[i++];
      continue;
    }
    std::string_view replacement = "?";
    size_t length = 1;
    for (const Substitute& substitute : kSubstitutes) {
      if (!text.substr(i).starts_with(substitute.character)) continue;
      replacement = substitute.ascii;
      length = substitute.character.size();
    }
    while (i + length < text.size() &&
           (static_cast<unsigned char>(text[i + length]) & 0xC0) == 0x80) {
      ++length;
    }
    ascii += replacement;
    i += length;
  }
  return ascii;
}

bool SaysUtf8(const char* value) {
  const std::string_view text(value);
  return text.find("UTF-8") != std::string_view::npos ||
         text.find("utf8") != std::string_view::npos ||
         text.find("utf-8") != std::string_view::npos;
}

// Like setlocale(), takes the first of these that is set and not empty.
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return SaysUtf8(value);
  }
  return false;
}

}  // namespace

TerminalStyle TerminalStyle::Of(FILE* out) {
  TerminalStyle style;
  style.unicode = LocaleIsUtf8();
  const int fd = fileno(out);
  if (fd < 0 || !isatty(fd)) return style;
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  style.color = (no_color == nullptr || *no_color == '\0') && term != nullptr &&
                std::string_view(term) != "dumb";
  if (const int columns = TerminalColumns(out); columns > 0) {
    style.width = std::clamp(columns, 40, 120);
    style.terminal_width = columns;
  }
  return style;
}

SummaryText& SummaryText::Put(std::string_view text, Tone tone) {
  std::string clean = CleanText(text);
  if (!style_.unicode) clean = ToAscii(clean);
  const std::string_view escape = style_.color ? Escape(tone) : "";
  text_ += escape;
  text_ += clean;
  if (!escape.empty()) text_ += "\x1b[0m";
  column_ += CharacterCount(clean);
  return *this;
}

SummaryText& SummaryText::PadTo(size_t column) {
  const size_t spaces = column > column_ ? column - column_ : (column_ > 0 ? 1 : 0);
  text_.append(spaces, ' ');
  column_ += spaces;
  return *this;
}

SummaryText& SummaryText::EndLine() {
  while (!text_.empty() && text_.back() == ' ') text_.pop_back();
  text_ += '\n';
  column_ = 0;
  return *this;
}

void SummaryText::Wrapped(std::string_view text, size_t indent, Tone tone) {
  const std::string clean = CleanText(text);
  std::string_view rest = clean;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    if (word.empty()) continue;
    if (column_ > indent && column_ + 1 + CharacterCount(word) > width()) {
      EndLine();
    } else if (column_ > indent) {
      Put(" ");
    }
    if (column_ < indent) PadTo(indent);
    Put(word, tone);
  }
  EndLine();
}

void SummaryText::Title(std::string_view text) {
  EndLine();
  Line(text, Tone::kTitle);
}

std::string BarText(double fraction, size_t width, bool unicode) {
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double places = std::clamp(fraction, 0.0, 1.0) * double(width);
  std::string bar;
  if (!unicode) {
    bar.append(static_cast<size_t>(std::lround(places)), '#');
    if (bar.empty() && fraction > 0) bar = ".";
    return bar;
  }
  size_t eighths = static_cast<size_t>(std::lround(places * 8));
  if (eighths == 0 && fraction > 0) eighths = 1;  // a small part stays visible
  for (size_t i = 0; i < eighths / 8; ++i) bar += "█";
  bar += kEighths[eighths % 8];
  return bar;
}

std::string_view SparkGlyph(double height, bool unicode) {
  constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 8> kAscii = {"_", ".", ",", "-", "=", "+", "*", "#"};
  const size_t level =
      std::min<size_t>(7, static_cast<size_t>(std::max(0.0, std::ceil(height * 8) - 1)));
  return unicode ? kBlocks[level] : kAscii[level];
}

SummaryTable::SummaryTable(SummaryText& out, std::vector<Column> columns)
    : out_(out), columns_(std::move(columns)) {}

size_t SummaryTable::NaturalWidth(size_t column) const {
  size_t width = CharacterCount(columns_[column].header);
  if (columns_[column].bar) return width;
  for (const auto& row : rows_)
    width = std::max(width, CharacterCount(CleanText(row[column].text)));
  return width;
}

// 0 = not shown. The first column takes the width that the others leave, then the bar.
std::vector<size_t> SummaryTable::Widths(size_t title_width) {
  constexpr size_t kLeastName = 8;
  constexpr size_t kLeastBar = 6;
  std::vector<size_t> widths(columns_.size());
  size_t used = kIndent;
  size_t bar = 0;
  for (size_t c = 1; c < columns_.size(); ++c) {
    if (static_cast<int>(out_.width()) < columns_[c].least_width) continue;
    widths[c] = columns_[c].bar ? kLeastBar : NaturalWidth(c);
    if (columns_[c].bar) bar = c;
    used += widths[c] + kGap;
  }
  const size_t wanted =
      std::max(NaturalWidth(0), title_width > kIndent ? title_width - kIndent : 0);
  while (used + wanted > out_.width()) {
    size_t victim = 0;
    for (size_t c = 1; c < columns_.size(); ++c) {
      if (widths[c] > 0 && columns_[c].least_width > columns_[victim].least_width) victim = c;
    }
    if (victim == 0) break;
    used -= widths[victim] + kGap;
    widths[victim] = 0;
    if (victim == bar) bar = 0;
  }
  widths[0] = std::clamp(wanted, kLeastName,
                         std::max(kLeastName, out_.width() > used ? out_.width() - used : 0));
  used += widths[0];
  if (bar > 0 && out_.width() > used) {
    widths[bar] = std::min(kWidestBar, widths[bar] + out_.width() - used);
  }
  return widths;
}

void SummaryTable::PrintCell(const Cell& cell, size_t column, size_t width) {
  const size_t start = out_.column();
  if (columns_[column].bar) {
    out_.Put(BarText(cell.fraction, width, out_.unicode()), cell.tone);
  } else {
    const std::string& text = cell.text;
    if (columns_[column].right) {
      const size_t length = CharacterCount(text);
      if (width > length) out_.PadTo(start + width - length);
    }
    out_.Put(text, cell.tone);
  }
  if (out_.column() < start + width) out_.PadTo(start + width);
}

void SummaryTable::CutTexts(const std::vector<size_t>& widths) {
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (widths[c] == 0 || columns_[c].bar) continue;
    std::vector<std::string> texts;
    for (const auto& row : rows_) texts.push_back(CleanText(row[c].text));
    texts = CutApart(texts, widths[c], columns_[c].cut_end ? CutEnd : ElideMiddle);
    for (size_t row = 0; row < rows_.size(); ++row) rows_[row][c].text = std::move(texts[row]);
  }
}

void SummaryTable::Print(std::string_view title, std::string_view note) {
  const std::vector<size_t> widths = Widths(CharacterCount(title));
  out_.EndLine();
  out_.Put(title, Tone::kTitle);
  size_t place = kIndent + widths[0];
  if (CharacterCount(title) > place) out_.EndLine();
  for (size_t c = 1; c < columns_.size(); ++c) {
    if (widths[c] == 0) continue;
    place += kGap + widths[c];
    const size_t length = CharacterCount(columns_[c].header);
    out_.PadTo(columns_[c].right ? place - length : place - widths[c]);
    out_.Put(columns_[c].header, Tone::kDim);
  }
  out_.EndLine();
  CutTexts(widths);
  for (const auto& row : rows_) {
    out_.PadTo(0);
    out_.Put(std::string(kIndent, ' '));
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (widths[c] == 0) continue;
      if (c > 0) out_.Put(std::string(kGap, ' '));
      PrintCell(row[c], c, widths[c]);
    }
    out_.EndLine();
  }
  if (!note.empty()) out_.Put(std::string(kIndent, ' ')).Line(note, Tone::kDim);
}

}  // namespace batchlight
