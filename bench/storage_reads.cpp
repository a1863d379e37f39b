// storage_reads FOLDER PATTERN BLOCK WORKERS cold|warm BYTES SECONDS: one row of `probe storage`,
// on the first BYTES of the file `data` of FOLDER. Prints bytes and nanoseconds.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "probe/storage_work.h"

int main(int argc, char** argv) {
  using namespace batchlight;
  if (argc != 8) return 2;
  const std::string pattern = argv[2];
  const uint64_t block_bytes = std::strtoull(argv[3], nullptr, 10);
  const auto folder = Folder::Open(argv[1]);
  if (!folder.ok()) return 3;
  probe::StorageFiles files;
  files.folder = &folder.value();
  files.data_bytes = std::strtoull(argv[6], nullptr, 10);
  for (const probe::StorageCase& what : probe::StorageCases()) {
    if (what.pattern != pattern || what.block_bytes != block_bytes) continue;
    const bool cold = std::string(argv[5]) == "cold";
    probe::WorkersSpec spec = probe::StorageWork(what, files, files.data_bytes, cold);
    spec.workers = std::atoi(argv[4]);
    spec.seconds = std::strtod(argv[7], nullptr);
    const auto done = probe::RunWorkers(pattern, spec);
    if (!done.ok() || done.value().error != 0) return 3;
    std::printf("%llu %lld\n", static_cast<unsigned long long>(done.value().bytes),
                static_cast<long long>(done.value().elapsed_ns));
    return 0;
  }
  return 2;
}
