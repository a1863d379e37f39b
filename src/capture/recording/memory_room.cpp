#include "capture/recording/memory_room.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace batchlight::capture {
namespace {

bool LiesInMemory(const LiveFolder& folder) {
  struct statfs disk {};
  if (fstatfs(folder.folder().fd(), &disk) != 0) return false;
  const auto type = static_cast<uint32_t>(disk.f_type);
  return type == TMPFS_MAGIC || type == RAMFS_MAGIC || type == HUGETLBFS_MAGIC;
}

}  // namespace

MemoryRoom::MemoryRoom(const DiskLimits& limits, const LiveFolder& folder,
                       format::ControlPage& page, FreeBytes free_bytes)
    : page_(&page),
      free_bytes_(std::move(free_bytes)),
      in_memory_(LiesInMemory(folder)),
      max_bytes_(limits.max_bytes) {
  if (!in_memory_) return;
  const uint64_t free = free_bytes_();
  const bool given = limits.keep_free_bytes || limits.keep_free_share;
  keep_bytes_ = given ? page.keep_free_bytes : DefaultKeepFree(free, free);
  Follow();
}

void MemoryRoom::Follow() {
  if (!in_memory_) return;
  const uint64_t free = free_bytes_();
  const uint64_t room = (free - std::min(free, keep_bytes_)) / 2;
  // 0 would be no limit.
  uint64_t limit = std::max<uint64_t>(page_->file_bytes.load() + room, 1);
  is_limit_ = max_bytes_ == 0 || limit < max_bytes_;
  if (!is_limit_) limit = max_bytes_;
  std::atomic_ref(page_->max_file_bytes).store(limit, std::memory_order_relaxed);
}

std::string MemoryRoom::ExplainStop(const std::string& folder) const {
  if (!is_limit_ || page_->stop.load() != format::RecordingStop::kMaxSize) return {};
  return "recording stopped so that the program keeps " + SizeText(keep_bytes_) +
         " of memory, in which " + folder + " lies (tmpfs; --keep-free); " +
         SizeText(page_->file_bytes) +
         " are recorded, the program runs on. Record on a disk with -o, or less with --steps";
}

}  // namespace batchlight::capture
