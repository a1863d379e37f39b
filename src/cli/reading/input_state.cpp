#include "cli/reading/input_state.h"

#include <filesystem>
#include <system_error>

#include "ingest/input_paths.h"
#include "ingest/open_input.h"

namespace batchlight::cli {

uint64_t StateOfInputs(const std::vector<std::string>& words) {
  const auto paths = FindInputs(words);
  if (!paths.ok()) return 0;
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, a word at a time
  const auto add = [&](auto value) {
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x100000001b3u;
  };
  bool sealed = false;
  for (const std::string& path : paths.value()) {
    const auto place = PlaceOfInput(path);
    if (!place.ok()) return 0;
    std::error_code error;
    const std::filesystem::path file(place.value());
    if (std::filesystem::is_directory(file, error)) continue;  // another run goes on beside them
    if (!std::filesystem::is_regular_file(file, error)) return 0;
    sealed = true;
    add(std::filesystem::file_size(file, error));
    if (error) return 0;
    add(std::filesystem::last_write_time(file, error).time_since_epoch().count());
    if (error) return 0;
  }
  return sealed ? hash : 0;
}

}  // namespace batchlight::cli
