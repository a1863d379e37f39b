#include "inject/buffer/disk_space.h"

#include <sys/vfs.h>

#include "inject/rt/control.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {
namespace {

using format::RecordingStop;

// `sealing_bytes`: of files for whose sealing no room is reserved yet.
bool LeavesFree(int fd, uint64_t bytes, uint64_t sealing_bytes, uint64_t keep_free) {
  struct statfs disk;
  if (keep_free == 0 || sys::Call(SYS_fstatfs, fd, &disk) != 0) return true;
  if (disk.f_blocks == 0) return true;  // a file system without a size
  const auto unit = static_cast<uint64_t>(disk.f_frsize != 0 ? disk.f_frsize : disk.f_bsize);
  return disk.f_bavail * unit >= bytes + keep_free + sealing_bytes / kSealedShare;
}

}  // namespace

RecordingStop TakeDiskSpace(int fd, uint32_t bytes, bool holds_room) {
  format::ControlPage* page = Control();
  const uint64_t before = page->file_bytes.fetch_add(bytes, std::memory_order_relaxed);
  RecordingStop why = RecordingStop::kNone;
  if (page->max_file_bytes != 0 && before + bytes > page->max_file_bytes) {
    why = RecordingStop::kMaxSize;
  } else if (!LeavesFree(fd, bytes, holds_room ? bytes : before + bytes, page->keep_free_bytes)) {
    why = RecordingStop::kKeepFree;
  }
  if (why != RecordingStop::kNone) ReturnDiskSpace(bytes);
  return why;
}

void ReturnDiskSpace(uint32_t bytes) {
  Control()->file_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

bool LeavesFiles(int folder) {
  struct statfs disk;
  const uint64_t keep_free = Control()->keep_free_files;
  if (keep_free == 0 || sys::Call(SYS_fstatfs, folder, &disk) != 0) return true;
  return disk.f_ffree > keep_free;
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
