#include "report/table_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/nearest.h"
#include "report/table_writers.h"

namespace batchlight {
namespace {

struct KindName {
  std::string_view name;
  TableKind kind;
  std::string_view extension;
};
constexpr auto kKinds = std::to_array<KindName>({{"column", TableKind::kColumn, "txt"},
                                                 {"table", TableKind::kTable, "txt"},
                                                 {"csv", TableKind::kCsv, "csv"},
                                                 {"tsv", TableKind::kTsv, "tsv"},
                                                 {"json", TableKind::kJson, "json"},
                                                 {"hdoc", TableKind::kHdoc, "html"},
                                                 {"htable", TableKind::kHtable, "html"},
                                                 {"markdown", TableKind::kMarkdown, "md"}});

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// One argument of a format. False: this format has no such argument.
bool ApplyArgument(std::string_view arg, TableFormat& format) {
  const bool text_table = format.for_people();
  if (arg == "nohdr" &&
      (text_table || format.kind == TableKind::kCsv || format.kind == TableKind::kTsv)) {
    format.header = false;
    return true;
  }
  if (arg == "esc" && format.kind == TableKind::kTsv) return format.escape_tabs = true;
  if (format.kind == TableKind::kHdoc && arg.starts_with("title=")) {
    format.title = arg.substr(6);
    return true;
  }
  if (format.kind == TableKind::kHdoc && arg.starts_with("css=")) {
    format.css = arg.substr(4);
    return true;
  }
  if (!text_table) return false;
  if (arg == "nolimit") {
    format.limit_width = false;
    return true;
  }
  if (arg == "nofmt") {
    format.group_digits = false;
    return true;
  }
  if (arg == ".") {
    format.widths.push_back(-1);
    return true;
  }
  int width = 0;
  const auto parsed = std::from_chars(arg.data(), arg.data() + arg.size(), width);
  if (parsed.ec != std::errc() || parsed.ptr != arg.data() + arg.size() || width < 0) return false;
  format.widths.push_back(width);
  return true;
}

struct UnitName {
  std::string_view heading;
  double per_ns;
  int decimals;
};
constexpr UnitName kUnits[] = {{"ns", 1, 0}, {"us", 1e3, 3}, {"ms", 1e6, 4}, {"s", 1e9, 5}};

void AppendInteger(int64_t value, std::string& text) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end.ptr);
}

void AppendReal(double value, int decimals, std::string& text) {
  // Nearly all numbers are tenths already: those need no general conversion.
  const double tenths = value * 10;
  if (decimals == 1 && tenths > -1e15 && tenths < 1e15 &&
      std::abs(tenths - std::nearbyint(tenths)) < 1e-7) {
    auto whole = static_cast<int64_t>(std::nearbyint(tenths));
    if (std::signbit(value)) text += '-';
    whole = whole < 0 ? -whole : whole;
    AppendInteger(whole / 10, text);
    text += '.';
    text += static_cast<char>('0' + whole % 10);
    return;
  }
  std::array<char, 352> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, decimals);
  text.append(digits.data(), end.ptr);
}

double Number(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return static_cast<double>(*integer);
  return std::get<double>(cell);
}

}  // namespace

std::string_view TableFormat::extension() const {
  for (const KindName& name : kKinds) {
    if (name.kind == kind) return name.extension;
  }
  return "txt";
}

Result<TableFormat> ParseTableFormat(std::string_view text) {
  TableFormat format;
  // An address in css= has colons of its own: it takes the rest of the text.
  const size_t css = text.find(":css=");
  std::string_view head = text;
  if (css != std::string_view::npos && text.starts_with("hdoc")) {
    format.css = text.substr(css + 5);
    head = text.substr(0, css);
  }
  const std::vector<std::string_view> parts = Split(head, ':');
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const KindName& k) { return k.name == parts[0]; });
  if (kind == kKinds.end()) {
    std::vector<std::string_view> names;
    for (const KindName& name : kKinds) names.push_back(name.name);
    return UsageError("no format \"" + std::string(parts[0]) + "\"" +
                      DidYouMean(NearestFew(parts[0], names)) +
                      " (column, table, csv, tsv, json, hdoc, htable, markdown)");
  }
  format.kind = kind->kind;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (!ApplyArgument(parts[i], format)) {
      return UsageError("format " + std::string(kind->name) + " has no argument \"" +
                        std::string(parts[i]) + "\"; --help-formats lists them");
    }
  }
  return format;
}

Result<TimeUnit> ParseTimeUnit(std::string_view text) {
  struct Spelling {
    std::string_view name;
    TimeUnit unit;
  };
  constexpr Spelling kSpellings[] = {{"nanoseconds", TimeUnit::kNanoseconds},
                                     {"nsec", TimeUnit::kNanoseconds},
                                     {"ns", TimeUnit::kNanoseconds},
                                     {"microseconds", TimeUnit::kMicroseconds},
                                     {"usec", TimeUnit::kMicroseconds},
                                     {"us", TimeUnit::kMicroseconds},
                                     {"milliseconds", TimeUnit::kMilliseconds},
                                     {"msec", TimeUnit::kMilliseconds},
                                     {"ms", TimeUnit::kMilliseconds},
                                     {"seconds", TimeUnit::kSeconds},
                                     {"sec", TimeUnit::kSeconds}};
  // nsys takes the longest match: a prefix of one of the words. "m" alone is milliseconds.
  if (text == "m") return TimeUnit::kMilliseconds;
  for (const Spelling& spelling : kSpellings) {
    if (!text.empty() && spelling.name.starts_with(text)) return spelling.unit;
  }
  return UsageError("no time unit \"" + std::string(text) +
                    "\": use nanoseconds, microseconds, milliseconds or seconds");
}

std::string ColumnHeading(const ResultColumn& column, TimeUnit unit) {
  switch (column.unit) {
    case Unit::kTimeNs:
      return column.name + " (" + std::string(kUnits[static_cast<size_t>(unit)].heading) + ")";
    case Unit::kBytes:
      return column.name + " (MB)";
    case Unit::kPercent:
      return column.name + " (%)";
    case Unit::kRate:
      return column.name + " (MB/s)";
    case Unit::kNone:
      break;
  }
  return column.name;
}

void AppendCellText(const ResultColumn& column, const Cell& cell, TimeUnit unit,
                    std::string& text) {
  if (const auto* string = std::get_if<std::string>(&cell)) {
    text += *string;
    return;
  }
  if (std::holds_alternative<std::monostate>(cell)) return;
  if (column.unit == Unit::kBytes || column.unit == Unit::kRate) {
    AppendReal(Number(cell) / 1e6, 3, text);
    return;
  }
  if (column.unit == Unit::kTimeNs && unit != TimeUnit::kNanoseconds) {
    const UnitName& scale = kUnits[static_cast<size_t>(unit)];
    AppendReal(Number(cell) / scale.per_ns, scale.decimals, text);
    return;
  }
  if (const auto* integer = std::get_if<int64_t>(&cell)) {
    AppendInteger(*integer, text);
  } else {
    AppendReal(std::get<double>(cell), column.decimals, text);
  }
}

std::string CellText(const ResultColumn& column, const Cell& cell, TimeUnit unit) {
  std::string text;
  AppendCellText(column, cell, unit, text);
  return text;
}

Status WriteTable(const TableFormat& format, const RowSource& rows, const TextSink& sink) {
  TableOutput output(format, rows, sink);
  switch (format.kind) {
    case TableKind::kColumn:
    case TableKind::kTable:
      WriteTextTable(output);
      break;
    case TableKind::kCsv:
      WriteCsv(output);
      break;
    case TableKind::kTsv:
      WriteTsv(output);
      break;
    case TableKind::kJson:
      WriteJson(output);
      break;
    case TableKind::kHdoc:
    case TableKind::kHtable:
      WriteHtml(output);
      break;
    case TableKind::kMarkdown:
      WriteMarkdown(output);
      break;
  }
  return output.Finish();
}

std::string TableText(const TableFormat& format, const RowSource& rows) {
  std::string text;
  // A sink that appends to a string does not fail.
  (void)WriteTable(format, rows, [&](std::string_view bytes) {
    text += bytes;
    return Status();
  });
  return text;
}

std::string_view TableFormatHelp() {
  return R"(Formats, with their arguments:

  column[:nohdr][:nolimit][:nofmt][:<width>[:<width>]...]
      text in columns, for reading. nohdr leaves the heading out; columns fit the first 100 rows,
      at most 100 characters unless nolimit is given; numbers have thousands separators unless
      nofmt is given. A width sets a column's, "." leaves it to the data, 0 hides the column.
  table[:nohdr][:nolimit][:nofmt][:<width>[:<width>]...]
      the same in boxes.
  csv[:nohdr]
      values separated by commas, quoted where they hold a comma, quote or line break.
  tsv[:nohdr][:esc]
      values separated by tabs. Tabs in values become spaces, with esc the two characters \t.
  json
      an array of objects with the column headings as keys.
  hdoc[:title=<title>][:css=<URL>]
      an HTML document.
  htable
      an HTML <table> to put into a document.
  markdown
      a Markdown table.
  png, svg
      a picture, of the reports that have one (recipes).
)";
}

}  // namespace batchlight
