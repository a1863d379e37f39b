// How much of its disk a recording may take, so that the program's own checkpoints find room. The
// recorded processes keep the limits (inject/buffer/disk_space.h); here they are set and explained.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "capture/recording/live_folder.h"
#include "format/control.h"

namespace batchlight::capture {

// As the user asked.
struct DiskLimits {
  std::optional<uint64_t> keep_free_bytes;  // --keep-free; nothing: see DefaultKeepFree()
  std::optional<double> keep_free_share;    // the same as a share of the disk, also of its files
  uint64_t max_bytes = 0;                   // --max-size; 0 = no limit
};

// The larger of 1 GiB and 5 % of the disk, but never more than half of what is free: a small disk
// is shared with the program, and something has to be recorded on it.
uint64_t DefaultKeepFree(uint64_t disk_bytes, uint64_t free_bytes);
// Likewise of the files that a disk can hold, of which each recorded process takes one or two: the
// larger of 1,000 and 5 %.
uint64_t DefaultKeepFreeFiles(uint64_t disk_files, uint64_t free_files);

// Sets the limits for the disk of the folder. Errors (kOutput): less is free than was asked for.
Status SetDiskLimits(const DiskLimits& limits, const LiveFolder& folder, format::ControlPage& page);

// 5.0 MiB, 1.5 GiB.
std::string SizeText(uint64_t bytes);

// What is not recorded so that files stay free, for the user; "" if nothing is.
std::string ExplainLeftOut(const format::ControlPage& page, const std::string& folder);

// Why recording stopped, and what to do, for the user.
std::string ExplainStop(const format::ControlPage& page, const std::string& folder);

}  // namespace batchlight::capture
