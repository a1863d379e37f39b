#include "capture/program/cupti_folder.h"

#include <climits>
#include <cstdlib>
#include <filesystem>

#include "capture/program/find_program.h"

namespace batchlight::capture {
namespace {

namespace fs = std::filesystem;

bool HasCupti(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "libcupti.so.13", error) ||
         fs::exists(folder / "libcupti.so.12", error);
}

// In the packages of the Python that lies in PREFIX/bin.
std::string InPackages(const fs::path& prefix) {
  std::error_code error;
  for (const char* lib : {"lib", "lib64"}) {
    for (const auto& entry : fs::directory_iterator(prefix / lib, error)) {
      if (!entry.path().filename().string().starts_with("python3")) continue;
      for (const char* packages : {"site-packages", "dist-packages"}) {
        for (const char* folder : {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"}) {
          const fs::path found = entry.path() / packages / folder;
          if (HasCupti(found)) return found.string();
        }
      }
    }
  }
  return "";
}

// Of a program: as it is named, which may be a link of a virtual environment, and where it lies.
std::string BesideProgram(const std::string& word) {
  const char* const path = std::getenv("PATH");
  const std::string program =
      FindProgram(word, path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin").path;
  if (program.empty()) return "";
  std::error_code error;
  const fs::path named = fs::absolute(program, error);
  std::string found = InPackages(named.parent_path().parent_path());
  if (found.empty()) {
    const fs::path real = fs::canonical(named, error);
    if (!error) found = InPackages(real.parent_path().parent_path());
  }
  return found;
}

}  // namespace

std::string FindCuptiFolder(const std::vector<std::string>& command) {
  std::error_code error;
  if (const char* const chosen = std::getenv("BATCHLIGHT_CUPTI");
      chosen != nullptr && *chosen != 0) {
    return fs::is_directory(chosen, error) ? chosen : fs::path(chosen).parent_path().string();
  }
  std::string found;
  if (!command.empty()) found = BesideProgram(command[0]);
  const char* const environment = std::getenv("VIRTUAL_ENV");
  if (found.empty() && environment != nullptr) found = InPackages(environment);
  if (found.empty()) found = BesideProgram("python3");
  return found.empty() ? "-" : found;
}

}  // namespace batchlight::capture
