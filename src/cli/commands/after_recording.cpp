#include "cli/commands/after_recording.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/partial/partial_bytes.h"
#include "analysis/partial/rank_partial.h"
#include "base/nearest.h"
#include "capture/recording/partial_block.h"
#include "cli/commands/export_command.h"
#include "cli/commands/stats_command.h"
#include "cli/reading/progress_line.h"
#include "cli/reading/standard_output.h"
#include "export/exporter.h"
#include "ingest/open_input.h"
#include "report/terminal/summary.h"

namespace batchlight::cli {
namespace {

// Export types that nsys has and batchlight does not.
constexpr std::string_view kNotWrittenYet[] = {"arrow", "arrowdir",   "hdf",
                                               "json",  "parquetdir", "text"};

// Keeps in the recording what `batchlight ranks` compares, if it is of a job of several ranks. A
// courtesy: without it all of the recording is read there. `overview`: if it was made.
void KeepPart(const capture::SealedRecording& sealed, const Store& store,
              const RunOverview* overview) {
  const auto& ranks = store.processes.rank;
  if (std::none_of(ranks.begin(), ranks.end(), [](int32_t rank) { return rank >= 0; })) return;
  const JobPart part = overview == nullptr ? MakeJobPart(sealed.path(), store)
                                           : MakeJobPart(sealed.path(), store, overview->steps,
                                                         overview->breakdowns);
  if (part.ranks.empty()) return;
  const Status kept = capture::AddPartialBlock(sealed.fd(), sealed.path(), EncodeJobPart(part));
  if (!kept.ok()) SayLine("batchlight: what ranks compares is not kept: " + kept.message());
}

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

ShowRecording SummaryOn(std::FILE* out) {
  return [out](const RunOverview& overview, const WrittenFiles& files) {
    const bool is_printed = PrintSummary(overview, out, files);
    if (is_printed || out == stderr) return Status();  // nowhere to say it
    return FailedOut();
  };
}

Status AfterRecording(const capture::SealedRecordings& recordings,
                      const capture::CaptureOptions& options, const ShowRecording& show) {
  if (recordings.empty()) return {};
  WrittenFiles files;
  files.emplace_back(recordings.back()->path(), "the recording");
  for (size_t i = 0; i + 1 < recordings.size(); ++i) {
    files.emplace_back(recordings[i]->path(), "an earlier capture of this run");
  }
  for (const auto& sealed : recordings) {
    const std::string& path = sealed->path();
    const bool last = sealed == recordings.back();
    const bool printed = last && (show || options.stats);
    const bool of_a_job = last && !show;  // another rank prints
    if (!printed && !of_a_job && options.exports.empty()) continue;
    ProgressLine progress;
    progress.Announce("reading " + path);
    RETURN_IF_ERROR(sealed->Hold());
    RETURN_IF_ERROR(sealed->CheckIsNamed());
    ASSIGN_OR_RETURN(MappedFile file, sealed->Map());
    ASSIGN_OR_RETURN(const Store store, OpenSealed(std::move(file), path));
    std::optional<RunOverview> overview;
    if (last && show.needs_overview()) overview.emplace(BuildOverview(store));
    KeepPart(*sealed, store, overview ? &*overview : nullptr);
    progress.Clear();
    for (const std::string& type : options.exports) {
      ASSIGN_OR_RETURN(const std::string written,
                       ExportBeside(store, path, type, options.replace, sealed->folder()));
      files.emplace_back(written, "exported, " + type);
    }
    if (!last) sealed->LetGo();
    if (!printed) continue;
    if (show) RETURN_IF_ERROR(show.Show(store, overview ? &*overview : nullptr, files));
    if (options.stats) RETURN_IF_ERROR(PrintDefaultStats(store));
  }
  return {};
}

}  // namespace batchlight::cli
