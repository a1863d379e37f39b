// System calls of the injected library. They go through syscall(2) on purpose: the C library's
// wrappers of open, close and fallocate are cancellation points (a cancelled thread would leave our
// locks held), and other preloaded libraries interpose them. All return -errno on failure and
// leave errno as it was.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace batchlight::inject::sys {

// What the caller's errno was is what it will be: the program must not see our failures.
class ErrnoSaver {
 public:
  ErrnoSaver() : saved_(errno) {}
  ~ErrnoSaver() { errno = saved_; }
  ErrnoSaver(const ErrnoSaver&) = delete;
  ErrnoSaver& operator=(const ErrnoSaver&) = delete;

 private:
  int saved_;
};

template <class... Args>
long Call(long number, Args... args) {
  ErrnoSaver errno_saver;
  const long result = ::syscall(number, args...);
  return result == -1 ? -errno : result;
}

inline int Open(const char* path, int flags, int mode = 0) {
  return static_cast<int>(Call(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode));
}
inline int OpenAt(int dir_fd, const char* name, int flags, int mode = 0) {
  return static_cast<int>(Call(SYS_openat, dir_fd, name, flags | O_CLOEXEC, mode));
}
inline void Close(int fd) { Call(SYS_close, fd); }
inline long Read(int fd, void* to, size_t bytes) { return Call(SYS_read, fd, to, bytes); }
inline int Pid() { return static_cast<int>(Call(SYS_getpid)); }
inline int ParentPid() { return static_cast<int>(Call(SYS_getppid)); }
inline int Tid() { return static_cast<int>(Call(SYS_gettid)); }

inline int64_t Nanoseconds(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);  // vDSO: never fails for the clocks we ask
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Private zeroed memory that a forked child sees as zeros again; nullptr on failure.
inline void* MapMemory(size_t bytes) {
  ErrnoSaver errno_saver;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}
inline void Unmap(void* memory, size_t bytes) {
  ErrnoSaver errno_saver;
  ::munmap(memory, bytes);
}
inline bool Advise(void* memory, size_t bytes, int advice) {
  ErrnoSaver errno_saver;
  return ::madvise(memory, bytes, advice) == 0;
}

// Reads a whole small file (at most `capacity` bytes); the number of bytes, 0 if there is none.
inline size_t ReadFile(const char* path, char* to, size_t capacity) {
  const int fd = Open(path, O_RDONLY);
  if (fd < 0) return 0;
  size_t total = 0;
  while (total < capacity) {
    const long got = Read(fd, to + total, capacity - total);
    if (got == -EINTR) continue;
    if (got <= 0) break;
    total += static_cast<size_t>(got);
  }
  Close(fd);
  return total;
}

}  // namespace batchlight::inject::sys
