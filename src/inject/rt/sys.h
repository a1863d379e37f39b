// System calls of the injected library. They are made directly: the C library's wrappers of open,
// close and fallocate are cancellation points (a cancelled thread would leave our locks held), and
// other preloaded libraries interpose them, our own shims for one. All return -errno on failure and
// leave errno as it was.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <type_traits>

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

inline long RawCall(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result = number;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
#else
  ErrnoSaver errno_saver;
  const long result = ::syscall(number, a, b, c, d, e, f);
  return result == -1 ? -errno : result;
#endif
}

template <class T>
long Word(T value) {
  if constexpr (std::is_null_pointer_v<T>) {
    return 0;
  } else if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<long>(value);
  } else {
    return static_cast<long>(value);
  }
}

template <class... Args>
long Call(long number, Args... args) {
  static_assert(sizeof...(args) <= 6);
  const long words[6] = {Word(args)...};
  return RawCall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

// Whether a result is an errno: addresses may be negative, too.
inline bool IsError(long result) { return result < 0 && result >= -4095; }

inline int Open(const char* path, int flags, int mode = 0) {
  return static_cast<int>(Call(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode));
}
inline int OpenAt(int dir_fd, const char* name, int flags, int mode = 0) {
  return static_cast<int>(Call(SYS_openat, dir_fd, name, flags | O_CLOEXEC, mode));
}
inline void Close(int fd) { Call(SYS_close, fd); }
inline long Read(int fd, void* to, size_t bytes) { return Call(SYS_read, fd, to, bytes); }
// Size of a file that is there; 0: none, or not to be told.
inline uint64_t FileBytes(const char* path) {
  struct stat about;
  const long result = Call(SYS_newfstatat, AT_FDCWD, path, &about, 0);
  return result == 0 && S_ISREG(about.st_mode) ? static_cast<uint64_t>(about.st_size) : 0;
}
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
  const long result = Call(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return IsError(result) ? nullptr : reinterpret_cast<void*>(result);
}
inline void Unmap(void* memory, size_t bytes) { Call(SYS_munmap, memory, bytes); }
inline bool Advise(void* memory, size_t bytes, int advice) {
  return Call(SYS_madvise, memory, bytes, advice) == 0;
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
