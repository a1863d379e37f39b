#include "cli/engines/seen_inputs.h"

#include <sys/stat.h>

#include <chrono>
#include <optional>
#include <thread>

#include "ingest/input_paths.h"
#include "ingest/open_input.h"

namespace batchlight::cli {
namespace {

constexpr int64_t kNsOfSecond = 1'000'000'000;
constexpr auto kLookAgain = std::chrono::milliseconds(100);

std::optional<SeenInput> See(const std::string& path) {
  const auto place = PlaceOfInput(path);
  struct stat info {};
  if (!place.ok() || stat(place.value().c_str(), &info) != 0) return std::nullopt;
  SeenInput seen{.path = path};
  if (S_ISDIR(info.st_mode)) return seen;
  seen.bytes = static_cast<uint64_t>(info.st_size);
  seen.changed_ns = int64_t{info.st_mtim.tv_sec} * kNsOfSecond + info.st_mtim.tv_nsec;
  return seen;
}

}  // namespace

Result<std::vector<SeenInput>> SeeInputs(const std::vector<std::string>& runs) {
  ASSIGN_OR_RETURN(const std::vector<std::string> paths, FindInputs(runs));
  std::vector<SeenInput> inputs;
  for (const std::string& path : paths) {
    if (auto seen = See(path)) inputs.push_back(std::move(*seen));
  }
  return inputs;
}

bool AwaitInput(const SeenInput& input, double seconds) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (See(input.path) != input) {
    if (std::chrono::steady_clock::now() >= limit) return false;
    std::this_thread::sleep_for(kLookAgain);
  }
  return true;
}

}  // namespace batchlight::cli
