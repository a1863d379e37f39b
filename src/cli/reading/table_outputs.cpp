#include "cli/reading/table_outputs.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "base/child.h"
#include "base/file.h"
#include "base/split.h"
#include "cli/reading/standard_output.h"
#include "report/charts/plot.h"

namespace batchlight::cli {
namespace {

Status WriteTo(std::FILE* file, std::string_view what, std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size()) return Status();
  return OutputError("cannot write to " + std::string(what));
}

// The path without the extension of its last part.
std::string WithoutExtension(const std::string& path) {
  const size_t dot = path.rfind('.');
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  return dot == std::string::npos || dot <= name ? path : path.substr(0, dot);
}

// Only reports that have a picture take the formats "png" and "svg".
bool IsPicture(std::string_view format) { return format == "png" || format == "svg"; }

Status WriteAll(const TableFormat& format, const RowSource& rows, const TextSink& sink,
                std::string_view prologue, std::string_view epilogue) {
  if (format.is_binary()) return rows.columns.empty() ? Status() : WriteTable(format, rows, sink);
  if (!prologue.empty()) RETURN_IF_ERROR(sink(prologue));
  // Without rows print nothing, not even a heading, as nsys does; only JSON prints an empty array.
  if (rows.row_count > 0 || (format.kind == TableKind::kJson && !rows.columns.empty())) {
    RETURN_IF_ERROR(WriteTable(format, rows, sink));
  }
  return epilogue.empty() ? Status() : sink(epilogue);
}

// Runs `command` as nsys does, without a shell: split at white space, nothing quoted or expanded,
// so that "@grep -E (-|Name)" needs no quotes.
Status WriteToProgram(const TableFormat& format, const RowSource& rows, const std::string& command,
                      std::string_view prologue, std::string_view epilogue) {
  std::fflush(stdout);
  std::vector<std::string> words;
  std::istringstream text(command);
  for (std::string word; text >> word;) words.push_back(word);
  if (words.empty()) return UsageError("output \"@\" names no program");
  const std::string program = words[0];
  Status status;
  const FedChild child =
      RunAndFeed({.words = std::move(words), .is_users = true}, [&](std::FILE* input) {
        status = WriteAll(
            format, rows, [&](std::string_view bytes) { return WriteTo(input, command, bytes); },
            prologue, epilogue);
      });
  if (child.error != 0) {
    return OutputError("cannot run " + program + ": " + std::strerror(child.error));
  }
  if (child.wait_status != 0) {
    const int code = WIFEXITED(child.wait_status) ? WEXITSTATUS(child.wait_status) : 128;
    return OutputError("\"" + command + "\" failed with exit code " + std::to_string(code));
  }
  return status;
}

// One file goes to standard output, not several behind each other.
Status WriteBytes(size_t index, const TableFormat& format, const RowSource& rows) {
  if (index > 0) {
    return UsageError("standard output takes one table of " + std::string(format.extension()) +
                      "; -o NAME writes a file of each");
  }
  RETURN_IF_ERROR(WriteAll(format, rows, WriteOut, {}, {}));
  return FinishOut();
}

// The elements of comma-separated lists. A blank element repeats the one before it; at the
// beginning it is the default. A comma followed by a space belongs to a program's command line.
std::vector<std::string> Elements(const std::vector<std::string>& lists, std::string_view blank) {
  std::vector<std::string> elements;
  for (const std::string& list : lists) {
    bool first = true;
    for (const std::string_view part : SplitAt(list, ',')) {
      if (!first && part.starts_with(' ') && elements.back().starts_with('@')) {
        elements.back().append(",").append(part);
      } else if (!part.empty()) {
        elements.emplace_back(part);
      } else {
        elements.push_back(elements.empty() ? std::string(blank) : elements.back());
      }
      first = false;
    }
  }
  return elements;
}

ReportSpec ParseReportSpec(std::string_view text) {
  const std::vector<std::string_view> parts = SplitAt(text, ':');
  return {std::string(parts[0]), {parts.begin() + 1, parts.end()}};
}

}  // namespace

Result<std::vector<ReportSpec>> ParseReportList(const std::vector<std::string>& lists) {
  std::vector<ReportSpec> specs;
  for (const std::string& text : Elements(lists, "")) {
    ReportSpec spec = ParseReportSpec(text);
    if (spec.name.empty()) {
      return UsageError("a list of reports or rules begins with a name, not with \"" + lists[0] +
                        "\"");
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::string Element(const std::vector<std::string>& list, size_t index, std::string_view if_empty) {
  if (list.empty()) return std::string(if_empty);
  return list[std::min(index, list.size() - 1)];
}

Result<TableOutputs> TableOutputs::Create(TableFlags flags, std::string input_path) {
  flags.formats = Elements(flags.formats, ".");
  flags.outputs = Elements(flags.outputs, "-");
  for (const std::string& format : flags.formats) {
    if (format == "." || IsPicture(format)) continue;
    RETURN_IF_ERROR(ExplainFormat(ParseTableFormat(format).status(), format));
  }
  TableOutputs outputs;
  outputs.flags_ = std::move(flags);
  outputs.input_path_ = std::move(input_path);
  return outputs;
}

void TableOutputs::Notice(std::string_view line) const {
  if (!flags_.quiet) {
    SayLine(line);
  }
}

Status TableOutputs::Write(size_t index, const RowSource& rows, const std::string& file_part,
                           std::string_view prologue, std::string_view epilogue) {
  const std::string output = Element(flags_.outputs, index, "-");
  std::string format_text = Element(flags_.formats, index, ".");
  if (IsPicture(format_text)) return WritePicture(rows, format_text, output, file_part);
  if (format_text == ".") format_text = output == "-" ? "column" : "csv";
  DisplayUnits units = kReportUnits;
  units.SetTime(flags_.time_unit);
  ASSIGN_OR_RETURN(TableFormat format, ParseTableFormat(format_text, units));
  format.nsys_compat = flags_.nsys_compat;

  if (output == "-") {
    RETURN_IF_ERROR(CheckConsole(format));
    if (format.is_binary()) return WriteBytes(index, format, rows);
    RETURN_IF_ERROR(WriteAll(format, rows, WriteNamesOut, prologue, epilogue));
    const bool is_text = format.kind == TableKind::kColumn || format.kind == TableKind::kTable;
    if (flags_.nsys_compat && is_text && rows.row_count == 0 && !rows.title.empty()) {
      RETURN_IF_ERROR(WriteNamesOut("\n ** " + rows.title + " (" + rows.name + "):\n\n" +
                                    "Report was successfully run, but no data was returned.\n\n"));
    }
    if (rows.row_count > 0 || !prologue.empty()) RETURN_IF_ERROR(WriteOut("\n"));
    return FinishOut();
  }
  if (output.starts_with("@")) {
    return WriteToProgram(format, rows, output.substr(1), prologue, epilogue);
  }
  const std::string path = FilePath(output, file_part, format);
  return WriteFile(format, rows, path, prologue, epilogue);
}

std::string TableOutputs::FilePath(const std::string& output, const std::string& file_part,
                                   const TableFormat& format) const {
  const std::string base = output == "." ? WithoutExtension(input_path_) : output;
  return base + '_' + file_part + '.' + std::string(format.extension());
}

void TableOutputs::Announce(size_t index, std::string_view report, std::string_view arguments,
                            const std::string& file_part) const {
  if (!flags_.nsys_compat || flags_.quiet) return;
  const std::string output = Element(flags_.outputs, index, "-");
  std::string text = "Processing [" + input_path_ + "] with [" + std::string(report) + ".py]";
  if (!arguments.empty()) text += '(' + std::string(arguments) + ')';
  if (output.starts_with("@")) {
    text += " to process [" + output + ']';
  } else if (output != "-") {
    const std::string format_text = Element(flags_.formats, index, ".");
    const auto format = ParseTableFormat(format_text == "." ? "csv" : format_text);
    if (format.ok()) text += " to [" + FilePath(output, file_part, format.value()) + ']';
  }
  (void)WriteNamesOut(text + "... " + (output == "-" ? "\n" : ""));  // FinishOut() tells of errors
}

void TableOutputs::Finish(size_t index, bool empty, std::string_view skipped) const {
  const bool as_nsys = flags_.nsys_compat && !flags_.quiet;
  const bool console = Element(flags_.outputs, index, "-") == "-";
  if (as_nsys && !console) std::printf("PROCESSED%s\n\n", empty ? " (EMPTY RESULTS)" : "");
  if (skipped.empty()) return;
  if (as_nsys) {
    (void)WriteNamesOut(std::string(skipped) + "\n\n");
  } else {
    Notice(skipped);
  }
}

Status TableOutputs::WritePicture(const RowSource& rows, const std::string& format,
                                  const std::string& output, const std::string& file_part) {
  ASSIGN_OR_RETURN(const std::string bytes,
                   RenderPlot(rows, format == "svg" ? PictureFormat::kSvg : PictureFormat::kPng));
  if (output == "-") return WriteOut(bytes);
  if (output.starts_with("@")) {
    return UsageError("a picture goes to a file or the console, not to a program");
  }
  const std::string base = output == "." ? WithoutExtension(input_path_) : output;
  const std::string path = base + '_' + file_part + '.' + format;
  if (!flags_.force_overwrite && FileExists(path)) {
    return OutputError(path + " exists; use --force-overwrite to replace it");
  }
  RETURN_IF_ERROR(WriteWholeFile(path, bytes));
  Notice("wrote " + path);
  return Status();
}

Status TableOutputs::WriteFile(const TableFormat& format, const RowSource& rows,
                               const std::string& path, std::string_view prologue,
                               std::string_view epilogue) const {
  if (!flags_.force_overwrite && FileExists(path)) {
    return OutputError(path + " exists; use --force-overwrite to replace it");
  }
  ASSIGN_OR_RETURN(AtomicFileWriter file, AtomicFileWriter::Create(path));
  RETURN_IF_ERROR(WriteAll(
      format, rows, [&](std::string_view bytes) { return file.Write(bytes); }, prologue, epilogue));
  RETURN_IF_ERROR(file.Commit());
  if (!flags_.nsys_compat) Notice("wrote " + path);
  return Status();
}

Status ExplainFormat(Status unknown, const std::string& value) {
  const bool is_other = value == "true" || value == "false" || FileExists(value);
  if (unknown.ok() || !is_other) return unknown;
  return UsageError(unknown.message() +
                    "; -f is --format here, and --force-overwrite has no short form");
}

Status CheckConsole(const TableFormat& format) {
  if (!format.is_binary() || isatty(STDOUT_FILENO) == 0) return {};
  const std::string name(format.extension());
  return UsageError(name + " is no text for a terminal: > table." + name +
                    " writes it to a file, -f csv prints text");
}

Status PrintFormatHelp(const std::string& name) {
  ASSIGN_OR_RETURN(const std::string help, TableFormatHelp(name));
  return WriteOut(help);
}

bool TakeBoolWord(const std::string& word, bool given, std::vector<std::string>& inputs) {
  if (word == "true" || word == "false") return word == "true";
  if (!word.empty()) inputs.push_back(word);
  return given;
}

}  // namespace batchlight::cli
