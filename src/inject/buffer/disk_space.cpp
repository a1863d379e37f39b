#include "inject/buffer/disk_space.h"

#include <sys/vfs.h>

#include "inject/rt/control.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {
namespace {

using format::RecordingStop;

// Sealing writes the recording a second time, compressed: measured 1/12 to 1/5 of its size.
constexpr uint64_t kSealedShare = 4;

bool LeavesFree(int fd, uint64_t bytes, uint64_t file_bytes, uint64_t keep_free) {
  struct statfs disk;
  if (keep_free == 0 || sys::Call(SYS_fstatfs, fd, &disk) != 0) return true;
  if (disk.f_blocks == 0) return true;  // a file system without a size
  const auto unit = static_cast<uint64_t>(disk.f_frsize != 0 ? disk.f_frsize : disk.f_bsize);
  return disk.f_bavail * unit >= bytes + keep_free + (file_bytes + bytes) / kSealedShare;
}

}  // namespace

RecordingStop TakeDiskSpace(int fd, uint32_t bytes) {
  format::ControlPage* page = Control();
  const uint64_t before = page->file_bytes.fetch_add(bytes, std::memory_order_relaxed);
  RecordingStop why = RecordingStop::kNone;
  if (page->max_file_bytes != 0 && before + bytes > page->max_file_bytes) {
    why = RecordingStop::kMaxSize;
  } else if (!LeavesFree(fd, bytes, before, page->keep_free_bytes)) {
    why = RecordingStop::kKeepFree;
  }
  if (why != RecordingStop::kNone) ReturnDiskSpace(bytes);
  return why;
}

void ReturnDiskSpace(uint32_t bytes) {
  Control()->file_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

void StopRecording(RecordingStop why) {
  format::ControlPage* page = Control();
  RecordingStop none = RecordingStop::kNone;
  if (page->stop.compare_exchange_strong(none, why)) WakeTool();
}

void NoteGrowthError(long error) {
  Control()->growth_error.store(static_cast<uint32_t>(-error), std::memory_order_relaxed);
}

}  // namespace batchlight::inject
