#include "cli/table_outputs.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>

#include "base/file.h"
#include "report/plot.h"

namespace batchlight::cli {
namespace {

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

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

// "png" and "svg" are formats of reports that have a picture.
bool IsPicture(std::string_view format) { return format == "png" || format == "svg"; }

Status WriteAll(const TableFormat& format, const RowSource& rows, const TextSink& sink,
                std::string_view prologue, std::string_view epilogue) {
  if (!prologue.empty()) RETURN_IF_ERROR(sink(prologue));
  RETURN_IF_ERROR(WriteTable(format, rows, sink));
  return epilogue.empty() ? Status() : sink(epilogue);
}

Status WriteToProgram(const TableFormat& format, const RowSource& rows, const std::string& command,
                      std::string_view prologue, std::string_view epilogue) {
  std::fflush(stdout);
  // A program that ends before it has read everything is its own error, not our end.
  const auto old_handler = std::signal(SIGPIPE, SIG_IGN);
  std::FILE* pipe = popen(command.c_str(), "w");
  if (pipe == nullptr) return OutputError("cannot start \"" + command + "\"");
  Status status = WriteAll(
      format, rows, [&](std::string_view bytes) { return WriteTo(pipe, command, bytes); }, prologue,
      epilogue);
  const int wait_status = pclose(pipe);
  std::signal(SIGPIPE, old_handler);
  if (wait_status != 0) {
    const int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128;
    return OutputError("\"" + command + "\" failed with exit code " + std::to_string(code));
  }
  return status;
}

}  // namespace

ReportSpec ParseReportSpec(std::string_view text) {
  std::vector<std::string> parts = Split(text, ':');
  ReportSpec spec{std::move(parts[0]), {}};
  spec.args.assign(std::make_move_iterator(parts.begin() + 1),
                   std::make_move_iterator(parts.end()));
  return spec;
}

std::vector<ReportSpec> ParseReportList(const std::vector<std::string>& lists) {
  std::vector<ReportSpec> specs;
  for (const std::string& list : lists) {
    for (const std::string& spec : Split(list, ',')) {
      if (!spec.empty()) specs.push_back(ParseReportSpec(spec));
    }
  }
  return specs;
}

std::string Element(const std::vector<std::string>& list, size_t index, std::string_view if_empty) {
  if (list.empty()) return std::string(if_empty);
  return list[std::min(index, list.size() - 1)];
}

Result<TableOutputs> TableOutputs::Create(TableFlags flags, std::string input_path) {
  for (auto* list : {&flags.formats, &flags.outputs}) {
    std::vector<std::string> parts;
    for (const std::string& text : *list) {
      for (std::string& part : Split(text, ',')) parts.push_back(std::move(part));
    }
    // A program's command line may hold commas of its own.
    if (list == &flags.formats || std::none_of(list->begin(), list->end(), [](const auto& text) {
          return text.starts_with("@");
        })) {
      *list = std::move(parts);
    }
  }
  for (const std::string& format : flags.formats) {
    if (format == "." || IsPicture(format)) continue;
    auto parsed = ParseTableFormat(format);
    if (!parsed.ok()) return parsed.status();
  }
  TableOutputs outputs;
  outputs.flags_ = std::move(flags);
  outputs.input_path_ = std::move(input_path);
  return outputs;
}

void TableOutputs::Notice(std::string_view line) const {
  if (!flags_.quiet) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  }
}

Status TableOutputs::Write(size_t index, const RowSource& rows, const std::string& file_part,
                           std::string_view prologue, std::string_view epilogue) {
  const std::string output = Element(flags_.outputs, index, "-");
  std::string format_text = Element(flags_.formats, index, ".");
  if (IsPicture(format_text)) return WritePicture(rows, format_text, output, file_part);
  if (format_text == ".") format_text = output == "-" ? "column" : "csv";
  ASSIGN_OR_RETURN(TableFormat format, ParseTableFormat(format_text));
  format.time_unit = flags_.time_unit;
  format.nsys_compat = flags_.nsys_compat;

  if (output == "-") {
    const auto sink = [](std::string_view bytes) {
      return WriteTo(stdout, "the standard output", bytes);
    };
    if (wrote_to_console_ && !format.for_people()) RETURN_IF_ERROR(sink("\n"));
    wrote_to_console_ = true;
    RETURN_IF_ERROR(WriteAll(format, rows, sink, prologue, epilogue));
    return std::fflush(stdout) == 0 ? Status() : OutputError("cannot write to the standard output");
  }
  if (output.starts_with("@")) {
    return WriteToProgram(format, rows, output.substr(1), prologue, epilogue);
  }
  const std::string base = output == "." ? WithoutExtension(input_path_) : output;
  const std::string path = base + '_' + file_part + '.' + std::string(format.extension());
  return WriteFile(format, rows, path, prologue, epilogue);
}

Status TableOutputs::WritePicture(const RowSource& rows, const std::string& format,
                                  const std::string& output, const std::string& file_part) {
  ASSIGN_OR_RETURN(const std::string bytes,
                   RenderPlot(rows, format == "svg" ? PictureFormat::kSvg : PictureFormat::kPng));
  if (output == "-") return WriteTo(stdout, "the standard output", bytes);
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
  Notice("wrote " + path);
  return Status();
}

bool TakeBoolWord(const std::string& word, bool given, std::vector<std::string>& inputs) {
  if (word == "true" || word == "false") return word == "true";
  if (!word.empty()) inputs.push_back(word);
  return given;
}

}  // namespace batchlight::cli
