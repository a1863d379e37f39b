#include "base/file_lock.h"

#include <fcntl.h>

#include <cerrno>

namespace batchlight {
namespace {

struct flock ReadLock(int64_t first, int64_t bytes) {
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_start = first;
  lock.l_len = bytes;
  return lock;
}

}  // namespace

bool LockToRead(int fd, int64_t first, int64_t bytes) {
  struct flock lock = ReadLock(first, bytes);
  return fcntl(fd, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

bool IsLockedToWrite(int fd, int64_t first, int64_t bytes) {
  struct flock lock = ReadLock(first, bytes);
  return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace batchlight
