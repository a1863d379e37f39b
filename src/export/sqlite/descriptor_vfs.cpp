#include "export/sqlite/descriptor_vfs.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace batchlight {
namespace {
namespace held {

constexpr char kVfsName[] = "batchlight-descriptor";

struct File {
  sqlite3_file base;
  int fd;
};

int FdOf(sqlite3_file* file) { return reinterpret_cast<File*>(file)->fd; }

int Close(sqlite3_file*) { return SQLITE_OK; }

// SQLite wants zeros for what lies behind the end.
int Read(sqlite3_file* file, void* to, int bytes, sqlite3_int64 offset) {
  char* const begin = static_cast<char*>(to);
  int done = 0;
  while (done < bytes) {
    const auto count =
        pread(FdOf(file), begin + done, static_cast<unsigned>(bytes - done), offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SQLITE_IOERR_READ;
    if (count == 0) break;
    done += static_cast<int>(count);
  }
  std::fill(begin + done, begin + bytes, '\0');
  return done == bytes ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int Write(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 offset) {
  const char* const begin = static_cast<const char*>(from);
  int done = 0;
  while (done < bytes) {
    const auto count =
        pwrite(FdOf(file), begin + done, static_cast<unsigned>(bytes - done), offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    done += static_cast<int>(count);
  }
  return SQLITE_OK;
}

int Truncate(sqlite3_file* file, sqlite3_int64 bytes) {
  return ftruncate(FdOf(file), bytes) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

int Sync(sqlite3_file*, int) { return SQLITE_OK; }

int FileSize(sqlite3_file* file, sqlite3_int64* bytes) {
  struct stat info {};
  if (fstat(FdOf(file), &info) != 0) return SQLITE_IOERR_FSTAT;
  *bytes = info.st_size;
  return SQLITE_OK;
}

int Lock(sqlite3_file*, int) { return SQLITE_OK; }

int CheckReservedLock(sqlite3_file*, int* is_locked) {
  *is_locked = 0;
  return SQLITE_OK;
}

int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }

int SectorSize(sqlite3_file*) { return 4096; }

int DeviceCharacteristics(sqlite3_file*) { return 0; }

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 1,
    .xClose = Close,
    .xRead = Read,
    .xWrite = Write,
    .xTruncate = Truncate,
    .xSync = Sync,
    .xFileSize = FileSize,
    .xLock = Lock,
    .xUnlock = Lock,
    .xCheckReservedLock = CheckReservedLock,
    .xFileControl = FileControl,
    .xSectorSize = SectorSize,
    .xDeviceCharacteristics = DeviceCharacteristics,
};

int OpenHeld(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* got_flags) {
  file->pMethods = nullptr;
  if (name == nullptr || (flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;
  auto* const opened = reinterpret_cast<File*>(file);
  opened->fd = std::atoi(name);
  opened->base.pMethods = &kMethods;
  if (got_flags != nullptr) *got_flags = flags;
  return SQLITE_OK;
}

int DeleteNothing(sqlite3_vfs*, const char*, int) { return SQLITE_OK; }

int FindNothing(sqlite3_vfs*, const char*, int, int* is_there) {
  *is_there = 0;
  return SQLITE_OK;
}

int KeepName(sqlite3_vfs*, const char* name, int room, char* full_name) {
  sqlite3_snprintf(room, full_name, "%s", name);
  return SQLITE_OK;
}

}  // namespace held
}  // namespace

const char* DescriptorVfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_initialize();
    sqlite3_vfs made = *sqlite3_vfs_find(nullptr);  // whose clock and random numbers it keeps
    made.pNext = nullptr;
    made.zName = held::kVfsName;
    made.szOsFile = sizeof(held::File);
    made.xOpen = held::OpenHeld;
    made.xDelete = held::DeleteNothing;
    made.xAccess = held::FindNothing;
    made.xFullPathname = held::KeepName;
    return made;
  }();
  [[maybe_unused]] static const int registered = sqlite3_vfs_register(&vfs, 0);
  return held::kVfsName;
}

std::string DescriptorName(int fd) { return std::to_string(fd); }

}  // namespace batchlight
