#include "capture/program/cupti_folder.h"

#include <climits>
#include <cstdlib>
#include <filesystem>

#include "base/child.h"
#include "base/trusted_path.h"
#include "capture/program/find_program.h"

namespace batchlight::capture {
namespace {

namespace fs = std::filesystem;

// Looks at one place after another.
class Search {
 public:
  explicit Search(CuptiOf whose) : whose_(whose) {}

  // In the packages of the Python that lies in PREFIX/bin.
  std::string InPackages(const fs::path& prefix);
  // Of a program: as it is named, which may be a link of a virtual environment, and where it lies.
  std::string BesideProgram(const std::string& program);

 private:
  bool HasCupti(const fs::path& folder) const {
    for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
      std::error_code error;
      if (!fs::exists(folder / name, error)) continue;
      return whose_ == CuptiOf::kAnyone || WhyNotTrusted(folder / name).empty();
    }
    return false;
  }

  CuptiOf whose_;
};

std::string Search::InPackages(const fs::path& prefix) {
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

std::string Search::BesideProgram(const std::string& program) {
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

std::string FindCuptiFolder(const std::vector<std::string>& command, CuptiOf whose) {
  std::error_code error;
  if (const char* const chosen = std::getenv("BATCHLIGHT_CUPTI");
      chosen != nullptr && *chosen != 0) {
    return fs::is_directory(chosen, error) ? chosen : fs::path(chosen).parent_path().string();
  }
  Search search(whose);
  std::string found;
  const char* const path = std::getenv("PATH");
  if (!command.empty()) {
    found = search.BesideProgram(
        FindProgram(command[0], path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin").path);
  }
  const char* const environment = std::getenv("VIRTUAL_ENV");
  if (found.empty() && environment != nullptr && *environment == '/') {
    found = search.InPackages(environment);
  }
  if (found.empty()) found = search.BesideProgram(FindOwnProgram("python3"));
  return found.empty() ? "-" : found;
}

}  // namespace batchlight::capture
