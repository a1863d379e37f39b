// Opening, closing and syncing; memory. Functions with arguments that may be left out are declared
// with all of them: what the caller has not passed is handed on as it is and not looked at.
#include "inject/shims/shim.h"

using namespace batchlight::inject::shims;

SHIM(int, open, const char* path, int flags, mode_t mode) {
  return Opens<OsCall::k_open, int>(path, path, flags, mode);
}
SHIM(int, open64, const char* path, int flags, mode_t mode) {
  return Opens<OsCall::k_open64, int>(path, path, flags, mode);
}
SHIM(int, openat, int folder, const char* path, int flags, mode_t mode) {
  return Opens<OsCall::k_openat, int>(path, folder, path, flags, mode);
}
SHIM(int, openat64, int folder, const char* path, int flags, mode_t mode) {
  return Opens<OsCall::k_openat64, int>(path, folder, path, flags, mode);
}
SHIM(int, creat, const char* path, mode_t mode) {
  return Opens<OsCall::k_creat, int>(path, path, mode);
}
SHIM(int, creat64, const char* path, mode_t mode) {
  return Opens<OsCall::k_creat64, int>(path, path, mode);
}
SHIM(int, close, int fd) { return Closes<OsCall::k_close, int>(fd, fd); }
SHIM(int, dup2, int from, int to) {
  return Closes<OsCall::k_dup2, int>(from != to ? to : -1, from, to);
}
SHIM(int, dup3, int from, int to, int flags) {
  return Closes<OsCall::k_dup3, int>(from != to ? to : -1, from, to, flags);
}
SHIM(int, fsync, int fd) { return OfDescriptor<OsCall::k_fsync, int>(fd, fd); }
SHIM(int, fdatasync, int fd) { return OfDescriptor<OsCall::k_fdatasync, int>(fd, fd); }
SHIM(int, flock, int fd, int operation) {
  return OfDescriptor<OsCall::k_flock, int>(fd, fd, operation);
}
SHIM(int, ioctl, int fd, unsigned long request, void* argument) {
  return OfDescriptor<OsCall::k_ioctl, int>(fd, fd, request, argument);
}

SHIM(void*, mmap, void* address, size_t bytes, int protection, int flags, int fd, off_t at) {
  return OfDescriptor<OsCall::k_mmap, void*>(fd, address, bytes, protection, flags, fd, at);
}
SHIM(void*, mmap64, void* address, size_t bytes, int protection, int flags, int fd, off_t at) {
  return OfDescriptor<OsCall::k_mmap64, void*>(fd, address, bytes, protection, flags, fd, at);
}
SHIM(int, munmap, void* address, size_t bytes) {
  return Timed<OsCall::k_munmap, int>(address, bytes);
}
SHIM(int, madvise, void* address, size_t bytes, int advice) {
  return Timed<OsCall::k_madvise, int>(address, bytes, advice);
}
SHIM(int, mprotect, void* address, size_t bytes, int protection) {
  return Timed<OsCall::k_mprotect, int>(address, bytes, protection);
}
