#include "cli/commands/after_recording.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/nearest.h"
#include "cli/commands/export_command.h"
#include "cli/commands/stats_command.h"
#include "cli/reading/progress_line.h"
#include "export/exporter.h"
#include "ingest/open_input.h"
#include "report/terminal/summary.h"

namespace batchlight::cli {
namespace {

// Export types that nsys has and batchlight does not.
constexpr std::string_view kNotWrittenYet[] = {"arrow", "arrowdir",   "hdf",
                                               "json",  "parquetdir", "text"};

}  // namespace

Status CheckExports(capture::CaptureOptions& options, std::vector<std::string>& notices) {
  std::vector<std::string> types;
  for (const std::string& type : options.exports) {
    if (FindExporter(type) != nullptr) {
      types.push_back(type);
      continue;
    }
    std::vector<std::string_view> known(std::begin(kNotWrittenYet), std::end(kNotWrittenYet));
    if (std::find(known.begin(), known.end(), type) != known.end()) {
      notices.push_back("--export=" + type + " is not written yet");
      continue;
    }
    for (const Exporter& exporter : Exporters()) known.push_back(exporter.name);
    const std::string nearest = Nearest(type, known);
    return UsageError(
        "--export: unknown type " + type +
        (nearest.empty() ? "; see `batchlight export --help`" : "; did you mean " + nearest + "?"));
  }
  options.exports = std::move(types);
  return {};
}

Status AfterRecording(const std::vector<std::string>& recordings,
                      const capture::CaptureOptions& options, std::FILE* out) {
  if (recordings.empty()) return {};
  std::vector<std::pair<std::string, std::string>> files;
  files.emplace_back(recordings.back(), "the recording");
  for (size_t i = 0; i + 1 < recordings.size(); ++i) {
    files.emplace_back(recordings[i], "an earlier capture of this run");
  }
  for (const std::string& path : recordings) {
    const bool last = path == recordings.back();
    const bool printed = last && (out != nullptr || options.stats);
    if (!printed && options.exports.empty()) continue;
    ProgressLine progress;
    progress.Announce("reading " + path);
    ASSIGN_OR_RETURN(const Store store, OpenInput(path));
    progress.Clear();
    for (const std::string& type : options.exports) {
      ASSIGN_OR_RETURN(const std::string written, ExportBeside(store, path, type, options.replace));
      files.emplace_back(written, "exported, " + type);
    }
    if (!printed) continue;
    if (out != nullptr) {
      PrintSummary(store, out, files);
      std::fflush(out);
    }
    if (options.stats) RETURN_IF_ERROR(PrintDefaultStats(store));
  }
  return {};
}

}  // namespace batchlight::cli
