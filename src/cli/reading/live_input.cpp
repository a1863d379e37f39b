#include "cli/reading/live_input.h"

#include <sys/stat.h>

#include <chrono>

#include "capture/recording/live_folder.h"
#include "ingest/input_paths.h"
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

uint64_t StateOfInputs(const std::vector<std::string>& words) {
  const auto paths = FindInputs(words);
  if (!paths.ok()) return 0;
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, a word at a time
  const auto add = [&](auto value) {
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x100000001b3u;
  };
  for (const std::string& path : paths.value()) {
    const auto place = PlaceOfInput(path);
    struct stat file {};
    if (!place.ok() || stat(place->c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return 0;
    add(file.st_dev);
    add(file.st_ino);
    add(file.st_size);
    add(file.st_mtim.tv_sec);
    add(file.st_mtim.tv_nsec);
  }
  return hash;
}

}  // namespace batchlight::cli
