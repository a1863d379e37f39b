// Access lists say there who may do what; what is given here is the one user that the C library
// knows.
#include "base/trusted_path.h"

#include <filesystem>
#include <system_error>

namespace batchlight {

std::string WhyNotTrusted(const std::string&) { return ""; }

Result<std::string> FirstTrustedPlace(const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    if (!place.empty()) return place;
  }
  return OutputError("there is no such folder");
}

Result<std::string> TemporaryPlace() {
  std::error_code error;
  const std::filesystem::path place = std::filesystem::temp_directory_path(error);
  if (!error) return place.string();
  return OutputError("no folder for temporary files: " + error.message() + "; set TMP to one");
}

bool IsReadableTo(uid_t, int, const Folder&) { return true; }

}  // namespace batchlight
