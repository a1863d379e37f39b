// What one worker does in each pattern of storage_cases.def, and the files that it needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/folder.h"
#include "probe/storage_measurements.h"
#include "probe/workers.h"

namespace batchlight::probe {

inline constexpr char kDataName[] = "data";
inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kSmallFileBytes = 100 << 10;

std::string MetadataName(int worker, uint64_t number);
std::string SmallFileName(int worker, uint64_t number);
std::string CheckpointName(int worker);

// The files that were made for the patterns that read.
struct StorageFiles {
  const Folder* folder = nullptr;
  uint64_t data_bytes = 0;               // of kDataName, whole MiB
  std::vector<std::string> small_files;  // of kSmallFileBytes each
  std::vector<uint64_t> created;         // by worker: files of kCreate
};

// Writes kDataName and syncs it: one worker, at most `bytes`.
WorkersSpec WriteDataFile(const Folder& folder, uint64_t bytes);

// Each worker writes its share of `count` small files and syncs each.
WorkersSpec WriteSmallFiles(const Folder& folder, uint64_t count);

// One worker removes what kRemove had no time for.
WorkersSpec RemoveCreated(const StorageFiles& files);

// One measurement. Reads stay in the first `bytes` of the data or, of small files, in so many
// files. A cold one reads nothing twice. Of kCheckpoint `bytes` are written in all. `files` must
// outlive the result.
WorkersSpec StorageWork(const StorageCase& what, const StorageFiles& files, uint64_t bytes,
                        bool cold);

}  // namespace batchlight::probe
