// fuzz_seeds FOLDER: the seeds of each target in FOLDER/<target>.
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "tests/fuzz/seeds.h"

namespace batchlight::fuzz {
namespace {

bool SaveSeeds(const std::string& folder, const std::string& target) {
  std::filesystem::create_directories(folder);
  for (const auto& [name, bytes] : SeedsOf(target)) {
    const Status status = WriteWholeFile(folder + "/" + name, bytes);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return false;
  }
  return true;
}

bool SaveAll(const std::string& folder) {
  bool ok = true;
#define TARGET(name, function) ok = SaveSeeds(folder + "/" #name, #name) && ok;
#include "tests/fuzz/targets.def"
#undef TARGET
  return ok;
}

}  // namespace
}  // namespace batchlight::fuzz

int main(int argc, char** argv) { return argc == 2 && batchlight::fuzz::SaveAll(argv[1]) ? 0 : 1; }
