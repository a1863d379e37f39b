// `probe storage`: measures what a path gives, with files of its own in a folder of its own below
// it, which is removed however the probe ends; what a killed one left goes with the next.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "probe/storage_measurements.h"

namespace batchlight::probe {

inline constexpr char kProbeFolder[] = "batchlight-probe";

struct StorageOptions {
  std::string path;
  double seconds = 60;
  uint64_t bytes = uint64_t{4} << 30;  // on the storage at one time
  std::vector<int> workers = {};       // empty: 1, 4, 16 and the number of processors
  // Called before each measurement with what it is and how much is done.
  std::function<void(const std::string& what, double share)> progress = {};
};

// Errors (kInput): the path is not there, no folder, not writable, full; the storage hangs; the
// user interrupted.
Result<StorageMeasurements> MeasureStorage(const StorageOptions& options);

// Errors (kUsage): "4GiB", "512M", "100000"; K, M, G and T are powers of 1024.
Result<uint64_t> ParseSize(const std::string& text);

}  // namespace batchlight::probe
