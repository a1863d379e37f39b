// What `probe storage` found, before it becomes tables and sentences.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight::probe {

enum class StorageKind : uint8_t {
  kCreate,
  kStat,
  kOpen,
  kList,
  kRemove,
  kSequentialRead,
  kRandomRead,
  kSmallFiles,
  kCheckpoint,
};

// A row of storage_cases.def.
struct StorageCase {
  StorageKind kind;
  uint64_t block_bytes;
  double weight;
  std::string_view pattern;
  std::string_view short_name;
  std::string_view operation;

  bool reads_data() const {
    return kind == StorageKind::kSequentialRead || kind == StorageKind::kRandomRead ||
           kind == StorageKind::kSmallFiles;
  }
};
std::span<const StorageCase> StorageCases();

// Whether what is read lay in memory when the measurement began.
enum class CacheState : uint8_t {
  kNone,      // reads no data
  kCold,      // at most 1 % did
  kPartly,    // some did: neither a figure of the storage nor of memory
  kWarm,      // at least 99 % did
  kUnproven,  // the system does not tell
};
std::string_view CacheStateName(CacheState state);
CacheState CacheStateOf(std::optional<uint64_t> resident_bytes, uint64_t bytes);

// "1 worker", "8 workers".
std::string WorkersText(int workers);

struct StorageMeasurement {
  const StorageCase* what = nullptr;
  bool wanted_cold = false;
  CacheState cache = CacheState::kNone;
  double resident_share = -1;  // of what is read, in memory at the start; -1: not known, or none
  int workers = 1;
  uint64_t operations = 0;
  double operations_per_s = 0;
  double bytes_per_s = 0;
  double p50_ns = 0;
  double p99_ns = 0;
  int64_t elapsed_ns = 0;
};

struct StorageMeasurements {
  std::string path;
  std::string file_system;  // "ext4"; "" = not known
  std::string device;       // "/dev/nvme0n1p1", "server:/export"
  uint64_t file_bytes = 0;  // the one that is read
  uint64_t warm_bytes = 0;  // the part of it that warm reads stay in
  uint64_t small_files = 0;
  double seconds = 0;
  std::vector<StorageMeasurement> rows;
  std::vector<std::string> notes;  // what was not measured, or is doubtful

  // The fastest of this kind and block over all worker counts, of what was read from the storage
  // itself (`cold`) or of memory; nullptr: none.
  const StorageMeasurement* Best(StorageKind kind, uint64_t block_bytes, bool cold) const;
};

}  // namespace batchlight::probe
