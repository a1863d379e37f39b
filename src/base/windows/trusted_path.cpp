// Access lists say there who may do what; what is given here is the one user that the C library
// knows.
#include "base/trusted_path.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace batchlight {

std::string WhyNotTrusted(const std::string&) { return ""; }

Result<std::string> FirstTrustedPlace(const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    if (!place.empty()) return place;
  }
  return OutputError("there is no such folder");
}

std::vector<std::string> TemporaryPlaces() {
  std::error_code error;
  return {std::filesystem::temp_directory_path(error).string()};
}

Result<TemporaryPlace> FindTemporaryPlace(const std::vector<std::string>& places) {
  auto place = FirstTrustedPlace(places);
  if (place.ok()) return TemporaryPlace{std::move(place).value(), ""};
  return OutputError("no folder for temporary files; set TMP to one");
}

bool IsReadableTo(uid_t, int, const Folder&) { return true; }

}  // namespace batchlight
