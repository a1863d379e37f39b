// Where `stats` and `analyze` write: the console, files, programs. Reports, formats and outputs are
// three lists read side by side; the shorter ones repeat their last element.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "report/tables/table_format.h"

namespace batchlight::cli {

// "name:arg:arg=v", parsed.
struct ReportSpec {
  std::string name;
  std::vector<std::string> args;
};
// Errors: kUsage for an element without a name.
Result<std::vector<ReportSpec>> ParseReportList(const std::vector<std::string>& lists);

// The options of one call, shared by all its tables.
struct TableFlags {
  std::vector<std::string> formats;  // as given: "csv:nohdr", "."
  std::vector<std::string> outputs;  // "-", "@command", "." or a base name
  TimeUnit time_unit = TimeUnit::kNanoseconds;
  bool force_overwrite = false;
  bool quiet = false;
  bool nsys_compat = false;
};

// Element `index` of a list that repeats its last one; `if_empty` for an empty list.
std::string Element(const std::vector<std::string>& list, size_t index, std::string_view if_empty);

class TableOutputs {
 public:
  // Checks all formats. Errors: kUsage.
  static Result<TableOutputs> Create(TableFlags flags, std::string input_path);

  // Writes table number `index` of the call. `file_part` becomes part of the file's name:
  // "cuda_gpu_kern_sum_base_nvtx=step-3". Without rows the file is made too, but is empty. Errors:
  // kOutput (the file exists, cannot be written, the program failed).
  Status Write(size_t index, const RowSource& rows, const std::string& file_part,
               std::string_view prologue = {}, std::string_view epilogue = {});

  // With --nsys-compat: the lines that nsys prints on stdout before and after a table. `skipped`
  // says why there are no rows; without the flag that is a notice.
  void Announce(size_t index, std::string_view report, std::string_view arguments,
                const std::string& file_part) const;
  void Finish(size_t index, bool empty, std::string_view skipped) const;

  // A line on stderr, unless quiet.
  void Notice(std::string_view line) const;
  size_t count() const { return std::max(flags_.formats.size(), flags_.outputs.size()); }

 private:
  std::string FilePath(const std::string& output, const std::string& file_part,
                       const TableFormat& format) const;
  Status WritePicture(const RowSource& rows, const std::string& format, const std::string& output,
                      const std::string& file_part);
  Status WriteFile(const TableFormat& format, const RowSource& rows, const std::string& path,
                   std::string_view prologue, std::string_view epilogue) const;

  TableFlags flags_;
  std::string input_path_;
};

// -f is --format where a command prints and --force-overwrite where it writes files, as in nsys
// (docs/design/0015-short-f.md). Says so when the value of the first is that of the second: adds to
// the error of an unknown format.
Status ExplainFormat(Status unknown, const std::string& value);

// Errors (kUsage): bytes that are no text would go to a terminal.
Status CheckConsole(const TableFormat& format);

// Prints the help of --help-formats [NAME|ALL]. Errors (kUsage): no such format.
Status PrintFormatHelp(const std::string& name);

// The word after --force-overwrite and similar flags: "true", "false" or none, which means `given`.
// Any other word is an input and is appended to `inputs`.
bool TakeBoolWord(const std::string& word, bool given, std::vector<std::string>& inputs);

}  // namespace batchlight::cli
