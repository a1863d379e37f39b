#include "capture/recording/disk_limits.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace batchlight::capture {
using format::RecordingStop;

std::string SizeText(uint64_t bytes) {
  const bool large = bytes >= uint64_t{1} << 30;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s",
                static_cast<double>(bytes) / (large ? 1 << 30 : 1 << 20), large ? "GiB" : "MiB");
  return text;
}

uint64_t DefaultKeepFree(uint64_t disk_bytes, uint64_t free_bytes) {
  return std::min(std::max(uint64_t{1} << 30, disk_bytes / 20), free_bytes / 2);
}

Status SetDiskLimits(const DiskLimits& limits, const LiveFolder& folder,
                     format::ControlPage& page) {
  page.max_file_bytes = limits.max_bytes;
  struct statvfs disk {};
  // A file system without a size has nothing to keep free.
  if (fstatvfs(folder.folder().fd(), &disk) != 0 || disk.f_blocks == 0) return {};
  const uint64_t disk_bytes = uint64_t{disk.f_blocks} * disk.f_frsize;
  const uint64_t free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
  const bool given = limits.keep_free_bytes || limits.keep_free_share;
  page.keep_free_bytes =
      limits.keep_free_bytes ? *limits.keep_free_bytes
      : limits.keep_free_share
          ? static_cast<uint64_t>(*limits.keep_free_share * static_cast<double>(disk_bytes))
          : DefaultKeepFree(disk_bytes, free_bytes);
  if (!given || free_bytes >= page.keep_free_bytes) return {};
  return OutputError("--keep-free asks for " + SizeText(page.keep_free_bytes) + " on the disk of " +
                     folder.path() + ", of which only " + SizeText(free_bytes) +
                     " are free; choose another folder with -o");
}

std::string ExplainStop(const format::ControlPage& page, const std::string& folder) {
  const std::string taken = SizeText(page.file_bytes) + " are recorded";
  switch (page.stop.load()) {
    case RecordingStop::kMaxSize:
      return "recording stopped at --max-size=" + SizeText(page.max_file_bytes) +
             "; the program runs on. Record less with --steps or --every";
    case RecordingStop::kKeepFree:
      return "recording stopped so that " + SizeText(page.keep_free_bytes) +
             " stay free on the disk of " + folder + " (--keep-free); " + taken +
             ", the program runs on. Record less with --steps, or on another disk with -o";
    case RecordingStop::kDiskFull:
      return "recording stopped because the disk of " + folder + " has no room left (" +
             std::strerror(static_cast<int>(page.growth_error.load())) + "); " + taken +
             ", the program runs on. Record less with --steps, or on another disk with -o";
    case RecordingStop::kNone:
      break;
  }
  return {};
}

}  // namespace batchlight::capture
