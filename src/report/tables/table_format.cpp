#include "report/tables/table_format.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "analysis/result/identifier.h"
#include "base/nearest.h"
#include "base/split.h"
#include "report/tables/table_writers.h"

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
                                                 {"markdown", TableKind::kMarkdown, "md"},
                                                 {"parquet", TableKind::kParquet, "parquet"},
                                                 {"arrow", TableKind::kArrow, "arrow"}});

struct FormatHelp {
  std::string_view name;
  std::string_view text;
};
constexpr FormatHelp kFormatHelp[] = {
    {"column",
     R"(  column[:<unit>][:nohdr][:nofmt][:autolines=<lines>][:colmax=<chars>][:<width>[:<width>]...]
      text in columns, for reading. nohdr leaves the heading out; columns fit the first 100 rows or
      those of autolines= (0: all), up to 100 characters or those of colmax= (0: any width); numbers
      have thousands separators unless nofmt is given. A width sets a column's, "." leaves it to the
      data, 0 hides the column.
)"},
    {"table",
     R"(  table[:<unit>][:nohdr][:nofmt][:autolines=<lines>][:colmax=<chars>][:<width>[:<width>]...]
      the same in boxes.
)"},
    {"csv", R"(  csv[:<unit>][:nohdr][:spreadsheet]
      values separated by commas, quoted where they hold a comma, quote or line break. With
      spreadsheet, names that begin with = + - @ get an apostrophe, so that they are no formulas.
)"},
    {"tsv", R"(  tsv[:<unit>][:nohdr][:esc][:spreadsheet]
      values separated by tabs. Tabs in values become spaces, with esc the two characters \t;
      spreadsheet as in csv.
)"},
    {"json", R"(  json[:<unit>]
      an array of objects with the column headings as keys.
)"},
    {"hdoc", R"(  hdoc[:<unit>][:title=<title>][:css=<URL>]
      an HTML document.
)"},
    {"htable", R"(  htable[:<unit>]
      an HTML <table> to put into a document.
)"},
    {"markdown", R"(  markdown[:<unit>]
      a Markdown table.
)"},
    {"parquet", R"(  parquet
      Apache Parquet, columns as in csv, in ns and bytes; for files and pipes.
)"},
    {"arrow", R"(  arrow
      an Apache Arrow IPC file (Feather), the same.
)"},
    {"png", R"(  png
      a picture, of the reports that have one (recipes).
)"},
    {"svg", R"(  svg
      the same, to be scaled.
)"}};

constexpr std::string_view kUnitHelp = R"(
Units are given as <category>=<unit>, any number of them:

  time=, ts=, dur=      times: all, points in time, durations    ns us ms sec
  bytes=, mem=, thru=   both, sizes, throughputs                 B KB KiB MB MiB GB GiB
  noconv                ns and B, as they are stored
  nohdrunit             no units in the heading
)";

Status UnknownFormat(std::string_view name) {
  const std::vector<std::string_view> names = TableFormatNames();
  return UsageError("no format \"" + std::string(name) + "\"" +
                    DidYouMean(NearestFew(name, names)) +
                    " (column, table, csv, tsv, json, hdoc, htable, markdown, parquet, arrow; "
                    "recipes: png, svg)");
}

Status UnknownArgument(std::string_view format, std::string_view argument) {
  const std::vector<std::string_view> known = {
      "nohdr", "nofmt", "nolimit", "autolines", "colmax", "esc",  "spreadsheet", "title", "css",
      "time",  "ts",    "dur",     "bytes",     "mem",    "thru", "nohdrunit",   "noconv"};
  return UsageError("format " + std::string(format) + " has no argument \"" +
                    std::string(argument) + "\"" +
                    DidYouMean(NearestFew(argument.substr(0, argument.find('=')), known)) +
                    " (--help-formats " + std::string(format) + " lists them)");
}

// The value after the "=" of "autolines=20".
bool ReadCount(std::string_view arg, std::string_view key, size_t& count) {
  if (!arg.starts_with(key)) return false;
  const char* end = arg.data() + arg.size();
  const auto parsed = std::from_chars(arg.data() + key.size(), end, count);
  if (count == 0) count = SIZE_MAX;
  return parsed.ec == std::errc() && parsed.ptr == end;
}

// Parses one argument of a format. False: this format has no such argument.
bool ApplyArgument(std::string_view arg, TableFormat& format) {
  const bool text_table = format.for_people();
  if (format.is_binary()) return false;  // columns have base units
  if (ApplyUnit(arg, format.units)) return true;
  if (arg == "nohdr" &&
      (text_table || format.kind == TableKind::kCsv || format.kind == TableKind::kTsv)) {
    format.header = false;
    return true;
  }
  if (arg == "spreadsheet" && (format.kind == TableKind::kCsv || format.kind == TableKind::kTsv)) {
    return format.spreadsheet = true;
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
  if (arg == "nolimit") {  // as older versions of nsys call colmax=0
    format.widest_column = SIZE_MAX;
    return true;
  }
  if (ReadCount(arg, "autolines=", format.rows_measured)) return true;
  if (ReadCount(arg, "colmax=", format.widest_column)) return true;
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

}  // namespace

bool GroupsDigits(const TableFormat& format, const ResultColumn& column) {
  return format.group_digits && (format.nsys_compat || !IsIdentifier(column));
}

std::string_view TableFormat::extension() const {
  for (const KindName& name : kKinds) {
    if (name.kind == kind) return name.extension;
  }
  return "txt";
}

Result<TableFormat> ParseTableFormat(std::string_view text, const DisplayUnits& units) {
  TableFormat format;
  format.units = units;
  // An address in css= has colons of its own, so it takes the rest of the text.
  const size_t css = text.find(":css=");
  std::string_view head = text;
  if (css != std::string_view::npos && text.starts_with("hdoc")) {
    format.css = text.substr(css + 5);
    head = text.substr(0, css);
  }
  const std::vector<std::string_view> parts = SplitAt(head, ':');
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const KindName& k) { return k.name == parts[0]; });
  if (kind == kKinds.end()) return UnknownFormat(parts[0]);
  format.kind = kind->kind;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (!ApplyArgument(parts[i], format)) return UnknownArgument(kind->name, parts[i]);
  }
  return format;
}

Status WriteTable(const TableFormat& format, const RowSource& rows, const TextSink& sink) {
  if (format.kind == TableKind::kParquet) {
    return WriteColumnar(ColumnarFormat::kParquet, rows, sink);
  }
  if (format.kind == TableKind::kArrow) return WriteColumnar(ColumnarFormat::kArrow, rows, sink);
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
    case TableKind::kParquet:
    case TableKind::kArrow:
      break;
  }
  return output.Finish();
}

std::string TableText(const TableFormat& format, const RowSource& rows) {
  std::string text;
  // Appending to a string cannot fail.
  (void)WriteTable(format, rows, [&](std::string_view bytes) {
    text += bytes;
    return Status();
  });
  return text;
}

std::vector<std::string_view> TableFormatNames() {
  std::vector<std::string_view> names;
  for (const FormatHelp& format : kFormatHelp) names.push_back(format.name);
  return names;
}

Result<std::string> TableFormatHelp(std::string_view name) {
  const bool all = name.empty() || name == "ALL" || name == "all";
  std::string text = all ? "Formats, with their arguments:\n\n" : "";
  for (const FormatHelp& format : kFormatHelp) {
    if (all || format.name == name) text.append(format.text);
  }
  if (text.empty()) return UnknownFormat(name);
  return text.append(kUnitHelp);
}

}  // namespace batchlight
