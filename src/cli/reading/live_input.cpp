#include "cli/reading/live_input.h"

#include <chrono>

#include "capture/recording/live_folder.h"
#include "ingest/open_input.h"

namespace batchlight::cli {

bool IsGrowing(const std::string& path) {
  const auto place = PlaceOfInput(path);
  if (!place.ok()) return false;
  const auto format = DetectFormat(place.value());
  if (!format.ok() || format.value() != InputFormat::kLiveFolder) return false;
  const auto folder = capture::LiveFolder::Open(place.value());
  return folder.ok() && !folder->FindWriter().empty();
}

uint64_t VersionOfInput(const std::string& path) {
  if (!IsGrowing(path)) return 0;
  // The program writes through a mapping, which shows neither in sizes nor in times of files.
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace batchlight::cli
