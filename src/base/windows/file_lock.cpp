#include "base/file_lock.h"

#include <io.h>
#include <windows.h>

namespace batchlight {
namespace {

HANDLE HandleOf(int fd) { return reinterpret_cast<HANDLE>(_get_osfhandle(fd)); }

OVERLAPPED At(int64_t first) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(first);
  place.OffsetHigh = static_cast<DWORD>(first >> 32);
  return place;
}

}  // namespace

// What is locked to read everybody may still read.
bool LockToRead(int fd, int64_t first, int64_t bytes) {
  OVERLAPPED place = At(first);
  return LockFileEx(HandleOf(fd), LOCKFILE_FAIL_IMMEDIATELY, 0, static_cast<DWORD>(bytes),
                    static_cast<DWORD>(bytes >> 32), &place) ||
         (GetLastError() != ERROR_LOCK_VIOLATION && GetLastError() != ERROR_IO_PENDING);
}

// Windows cannot be asked, but tried.
bool IsLockedToWrite(int fd, int64_t first, int64_t bytes) {
  if (!LockToRead(fd, first, bytes)) return true;
  OVERLAPPED place = At(first);
  UnlockFileEx(HandleOf(fd), 0, static_cast<DWORD>(bytes), static_cast<DWORD>(bytes >> 32), &place);
  return false;
}

}  // namespace batchlight
