#include "capture/recording/disk_limits.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace batchlight::capture {
using format::RecordingStop;
namespace {

std::string AsksForTooMuch(const std::string& kept, const std::string& folder,
                           const std::string& free) {
  return "--keep-free asks for " + kept + " on the disk of " + folder + ", of which only " + free +
         " are free; choose another folder with -o";
}

uint64_t ShareOf(double share, uint64_t all) {
  return static_cast<uint64_t>(share * static_cast<double>(all));
}

Status SetFreeBytes(const DiskLimits& limits, const struct statvfs& disk, const std::string& folder,
                    format::ControlPage& page) {
  // A file system without a size has nothing to keep free.
  if (disk.f_blocks == 0) return {};
  const uint64_t disk_bytes = uint64_t{disk.f_blocks} * disk.f_frsize;
  const uint64_t free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
  const bool given = limits.keep_free_bytes || limits.keep_free_share;
  page.keep_free_bytes = limits.keep_free_bytes   ? *limits.keep_free_bytes
                         : limits.keep_free_share ? ShareOf(*limits.keep_free_share, disk_bytes)
                                                  : DefaultKeepFree(disk_bytes, free_bytes);
  if (!given || free_bytes >= page.keep_free_bytes) return {};
  return OutputError(AsksForTooMuch(SizeText(page.keep_free_bytes), folder, SizeText(free_bytes)));
}

Status SetFreeFiles(const DiskLimits& limits, const struct statvfs& disk, const std::string& folder,
                    format::ControlPage& page) {
  // The live folder has just got files: one that says that it has none left does not count them.
  if (disk.f_files == 0 || disk.f_ffree == 0 || limits.keep_free_bytes == 0u) return {};
  page.keep_free_files = limits.keep_free_share ? ShareOf(*limits.keep_free_share, disk.f_files)
                                                : DefaultKeepFreeFiles(disk.f_files, disk.f_ffree);
  if (!limits.keep_free_share || disk.f_ffree > page.keep_free_files) return {};
  return OutputError(AsksForTooMuch(std::to_string(page.keep_free_files) + " files", folder,
                                    std::to_string(disk.f_ffree)));
}

}  // namespace

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

uint64_t DefaultKeepFreeFiles(uint64_t disk_files, uint64_t free_files) {
  return std::min(std::max(uint64_t{1000}, disk_files / 20), free_files / 2);
}

Status SetDiskLimits(const DiskLimits& limits, const LiveFolder& folder,
                     format::ControlPage& page) {
  page.max_file_bytes = limits.max_bytes;
  struct statvfs disk {};
  if (fstatvfs(folder.folder().fd(), &disk) != 0) return {};
  RETURN_IF_ERROR(SetFreeBytes(limits, disk, folder.path(), page));
  return SetFreeFiles(limits, disk, folder.path(), page);
}

std::string ExplainLeftOut(const format::ControlPage& page, const std::string& folder) {
  const uint32_t processes = page.processes_unfiled.load();
  if (processes == 0) return {};
  return std::to_string(processes) +
         (processes == 1 ? " process is not recorded" : " processes are not recorded") +
         ", or not from the start: each takes a file, and " + std::to_string(page.keep_free_files) +
         " files stay free on the disk of " + folder +
         " (--keep-free). Record on another disk with -o";
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
