// Reading and writing.
#include <stdio.h>

#include "inject/shims/shim.h"

using namespace batchlight::inject::shims;

namespace {

int DescriptorOf(FILE* file) {
  return g_is_glibc && file != nullptr ? file->_fileno : -1;  // fileno() may change errno
}

template <OsCall kCall, class... Args>
size_t MovesItems(FILE* file, size_t item_bytes, Args... args) {
  if (!On()) return CallNext<kCall, size_t>(args...);
  const uint64_t begin = Now();
  const auto items = CallNext<kCall, size_t>(args...);
  g_api->done_io(kCall, begin, static_cast<int64_t>(items),
                 static_cast<int64_t>(items * item_bytes), DescriptorOf(file));
  return items;
}

}  // namespace

SHIM(ssize_t, read, int fd, void* to, size_t bytes) {
  return Moves<OsCall::k_read, ssize_t>(fd, fd, to, bytes);
}
SHIM(ssize_t, __read_chk, int fd, void* to, size_t bytes, size_t room) {
  if (bytes > room) __builtin_trap();
  return Moves<OsCall::k_read, ssize_t>(fd, fd, to, bytes);
}
SHIM(ssize_t, pread, int fd, void* to, size_t bytes, off_t at) {
  return Moves<OsCall::k_pread, ssize_t>(fd, fd, to, bytes, at);
}
SHIM(ssize_t, pread64, int fd, void* to, size_t bytes, off_t at) {
  return Moves<OsCall::k_pread64, ssize_t>(fd, fd, to, bytes, at);
}
SHIM(ssize_t, readv, int fd, const void* parts, int count) {
  return Moves<OsCall::k_readv, ssize_t>(fd, fd, parts, count);
}
SHIM(ssize_t, preadv, int fd, const void* parts, int count, off_t at) {
  return Moves<OsCall::k_preadv, ssize_t>(fd, fd, parts, count, at);
}
SHIM(ssize_t, preadv64, int fd, const void* parts, int count, off_t at) {
  return Moves<OsCall::k_preadv64, ssize_t>(fd, fd, parts, count, at);
}
SHIM(ssize_t, write, int fd, const void* from, size_t bytes) {
  return Moves<OsCall::k_write, ssize_t>(fd, fd, from, bytes);
}
SHIM(ssize_t, pwrite, int fd, const void* from, size_t bytes, off_t at) {
  return Moves<OsCall::k_pwrite, ssize_t>(fd, fd, from, bytes, at);
}
SHIM(ssize_t, pwrite64, int fd, const void* from, size_t bytes, off_t at) {
  return Moves<OsCall::k_pwrite64, ssize_t>(fd, fd, from, bytes, at);
}
SHIM(ssize_t, writev, int fd, const void* parts, int count) {
  return Moves<OsCall::k_writev, ssize_t>(fd, fd, parts, count);
}
SHIM(ssize_t, pwritev, int fd, const void* parts, int count, off_t at) {
  return Moves<OsCall::k_pwritev, ssize_t>(fd, fd, parts, count, at);
}
SHIM(ssize_t, pwritev64, int fd, const void* parts, int count, off_t at) {
  return Moves<OsCall::k_pwritev64, ssize_t>(fd, fd, parts, count, at);
}
SHIM(ssize_t, sendfile, int to, int from, off_t* at, size_t bytes) {
  return Moves<OsCall::k_sendfile, ssize_t>(from, to, from, at, bytes);
}
SHIM(ssize_t, sendfile64, int to, int from, off_t* at, size_t bytes) {
  return Moves<OsCall::k_sendfile64, ssize_t>(from, to, from, at, bytes);
}
SHIM(ssize_t, copy_file_range, int from, off_t* from_at, int to, off_t* to_at, size_t bytes,
     unsigned flags) {
  return Moves<OsCall::k_copy_file_range, ssize_t>(from, from, from_at, to, to_at, bytes, flags);
}

SHIM(size_t, fread, void* to, size_t item_bytes, size_t items, FILE* file) {
  return MovesItems<OsCall::k_fread>(file, item_bytes, to, item_bytes, items, file);
}
SHIM(size_t, fwrite, const void* from, size_t item_bytes, size_t items, FILE* file) {
  return MovesItems<OsCall::k_fwrite>(file, item_bytes, from, item_bytes, items, file);
}
SHIM(int, fflush, FILE* file) {
  return OfDescriptor<OsCall::k_fflush, int>(DescriptorOf(file), file);
}
SHIM(int, fclose, FILE* file) { return Closes<OsCall::k_fclose, int>(DescriptorOf(file), file); }
SHIM(FILE*, fopen, const char* path, const char* mode) {
  return Opens<OsCall::k_fopen, FILE*>(path, path, mode);
}
SHIM(FILE*, fopen64, const char* path, const char* mode) {
  return Opens<OsCall::k_fopen64, FILE*>(path, path, mode);
}
