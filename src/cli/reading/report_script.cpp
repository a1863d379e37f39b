#include "cli/reading/report_script.h"

#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/child.h"
#include "base/file.h"
#include "base/folder.h"
#include "export/exporter.h"
#include "nsys/source_format.h"

namespace batchlight::cli {
namespace {

constexpr std::string_view kExtension = ".py";
constexpr char kPathListSeparator = std::filesystem::path::preferred_separator == '/' ? ':' : ';';

// One value up to the ',' or line end that `at` then stands on.
std::string TakeValue(std::string_view text, size_t& at) {
  std::string value;
  if (at < text.size() && text[at] == '"') {
    for (++at; at < text.size(); ++at) {
      if (text[at] == '"' && (at + 1 >= text.size() || text[at + 1] != '"')) break;
      if (text[at] == '"') ++at;
      value += text[at];
    }
    if (at < text.size()) ++at;
  }
  while (at < text.size() && text[at] != ',' && text[at] != '\n') value += text[at++];
  if (at >= text.size() || text[at] == '\n') {
    if (value.ends_with('\r')) value.pop_back();
  }
  return value;
}

std::vector<std::string> TakeLine(std::string_view text, size_t& at) {
  std::vector<std::string> values = {TakeValue(text, at)};
  while (at < text.size() && text[at] == ',') values.push_back(TakeValue(text, ++at));
  if (at < text.size()) ++at;
  return values;
}

template <typename Number>
bool ParseWhole(std::string_view text, Number& number) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

// Number of digits after the point, as in "12.50"; -1 if the text is not such a number.
int DecimalsOf(std::string_view text) {
  const size_t point = text.find('.');
  if (text.find_first_not_of("0123456789.-") != text.npos || point == text.npos) return -1;
  double number = 0;
  return ParseWhole(text, number) ? static_cast<int>(text.size() - point) - 1 : -1;
}

struct HeadingUnit {
  std::string_view suffix;
  Unit unit;
};
constexpr HeadingUnit kHeadingUnits[] = {{" (ns)", Unit::kTimeNs}, {" (%)", Unit::kPercent}};

// Values that would not print as they were read stay text.
void TypeColumn(ResultTable& table, size_t c) {
  ResultColumn& column = table.columns[c];
  bool whole = !table.rows.empty();
  bool real = whole;
  int decimals = -1;
  for (const std::vector<Cell>& row : table.rows) {
    const auto& text = std::get<std::string>(row[c]);
    int64_t number = 0;
    whole = whole && ParseWhole(text, number);
    const int here = DecimalsOf(text);
    real = real && here >= 0 && (decimals < 0 || here == decimals);
    decimals = here;
  }
  if (!whole && !real) return;
  column.type = whole ? CellType::kInteger : CellType::kReal;
  column.decimals = whole ? 0 : decimals;
  for (std::vector<Cell>& row : table.rows) {
    const std::string text = std::get<std::string>(row[c]);
    if (whole) {
      int64_t number = 0;
      ParseWhole(text, number);
      row[c] = number;
    } else {
      row[c] = std::strtod(text.c_str(), nullptr);
    }
  }
  for (const HeadingUnit& heading : kHeadingUnits) {
    if (!column.name.ends_with(heading.suffix)) continue;
    column.name.resize(column.name.size() - heading.suffix.size());
    column.unit = heading.unit;
  }
}

// The program's standard output; its errors go to our stderr.
Result<std::string> OutputOf(const std::vector<std::string>& words) {
  ChildOutput output = RunAndRead({.words = words});
  if (output.error != 0) {
    return InputError("cannot start " + words[0] + ": " + std::strerror(output.error));
  }
  const int status = output.wait_status;
  if (status == 0) return std::move(output.text);
  const std::string how = WIFEXITED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                                            : "signal " + std::to_string(WTERMSIG(status));
  return InputError("report script " + words[1] + " failed with " + how + "; its words are above");
}

// A column gets the type that all its values share, and the unit that its heading ends with: "Total
// Time (ns)". Errors: kInput for a line with too many or too few values.
Result<ResultTable> TableOfCsv(const std::string& name, std::string_view text) {
  ResultTable table;
  table.name = table.title = name;
  size_t at = 0;
  if (text.empty()) return table;
  for (std::string& heading : TakeLine(text, at)) {
    table.columns.push_back({std::move(heading), CellType::kText, Unit::kNone, 0, {}});
  }
  while (at < text.size()) {
    std::vector<std::string> values = TakeLine(text, at);
    if (values.size() == 1 && values[0].empty()) continue;  // an empty line
    if (values.size() != table.columns.size()) {
      return InputError("report script " + name + ": row " + std::to_string(table.rows.size() + 1) +
                        " of its CSV has " + std::to_string(values.size()) +
                        " value(s), its heading " + std::to_string(table.columns.size()));
    }
    std::vector<Cell>& row = table.rows.emplace_back();
    for (std::string& value : values) row.emplace_back(std::move(value));
  }
  for (size_t c = 0; c < table.columns.size(); ++c) TypeColumn(table, c);
  return table;
}

}  // namespace

ReportScripts::ReportScripts(std::vector<std::string> folders) : folders_(std::move(folders)) {
  const char* path = std::getenv("NSYS_STATS_REPORT_PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(kPathListSeparator), rest.size());
    if (end > 0) folders_.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::optional<std::string> ReportScripts::Find(const std::string& name) const {
  if (name.empty() || name.find('/') != name.npos) return std::nullopt;
  for (const std::string& folder : folders_) {
    const std::string path = folder + '/' + name + std::string(kExtension);
    if (FileExists(path)) return path;
  }
  return std::nullopt;
}

std::vector<std::string> ReportScripts::Names() const {
  std::vector<std::string> names;
  for (const std::string& folder : folders_) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string file = entry.path().filename().string();
      // nsys: names that begin with an underscore are modules of the scripts.
      if (entry.path().extension() == kExtension && file[0] != '_') {
        names.push_back(entry.path().stem().string());
      }
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<std::string> ReportScripts::DatabaseOf(const Store& store) {
  if (store.source_format == nsys::kNsysFormat || store.source_format == nsys::kOwnFormat) {
    return store.source;
  }
  if (!temporary_) {
    ASSIGN_OR_RETURN(TemporaryFolder made, TemporaryFolder::Make("batchlight-"));
    temporary_.emplace(std::move(made));
  }
  ExportOptions options;
  options.output = temporary_->path() + "/report.sqlite";
  if (exported_ == &store) return options.output;
  RETURN_IF_ERROR(ExportSqlite(store, options).status());
  exported_ = &store;
  return options.output;
}

Result<RowSource> ReportScripts::Run(const std::string& name, const std::vector<std::string>& args,
                                     const Store& store) {
  ASSIGN_OR_RETURN(const std::string database, DatabaseOf(store));
  std::vector<std::string> words = {"python3", Find(name).value_or(name), database};
  words.insert(words.end(), args.begin(), args.end());
  ASSIGN_OR_RETURN(const std::string csv, OutputOf(std::move(words)));
  ASSIGN_OR_RETURN(ResultTable table, TableOfCsv(name, csv));
  return KeepRows(std::move(table));
}

}  // namespace batchlight::cli
