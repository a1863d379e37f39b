#include "cli/after_recording.h"

#include <utility>

#include "cli/stats_command.h"
#include "ingest/open_input.h"
#include "report/summary.h"

namespace batchlight::cli {

Status AfterRecording(const std::vector<std::string>& recordings,
                      const capture::CaptureOptions& options, std::FILE* out) {
  if (recordings.empty()) return {};
  ASSIGN_OR_RETURN(const Store store, OpenInput(recordings.back()));
  std::vector<std::pair<std::string, std::string>> files;
  files.emplace_back(recordings.back(), "the recording");
  for (size_t i = 0; i + 1 < recordings.size(); ++i) {
    files.emplace_back(recordings[i], "an earlier capture of this run");
  }
  PrintSummary(store, out, std::move(files));
  std::fflush(out);
  if (options.stats) RETURN_IF_ERROR(PrintDefaultStats(store));
  return {};
}

}  // namespace batchlight::cli
