#include "inject/rt/control.h"

#include <sys/stat.h>

#include <climits>
#include <cstdlib>
#include <cstring>

#include "format/control_check.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject {
namespace {

constexpr std::atomic<uint32_t> kOff{0};
format::ControlPage* g_control = nullptr;
char g_session_dir[3072];
struct stat g_dir_info;  // of the folder when this process attached

// Whoever writes into the page or its folder decides what code this process loads.
bool IsOursAlone(const struct stat& info) {
  return info.st_uid == static_cast<uid_t>(sys::Call(SYS_geteuid)) &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// The C library's fstat is of glibc 2.33; its struct is the kernel's.
bool Describe(int fd, struct stat* info) { return sys::Call(SYS_fstat, fd, info) == 0; }

int OpenDir(const char* path) { return sys::Open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW); }

// The page's file within the folder, if both may be trusted; else -1.
int OpenPage(const char* dir) {
  const int dir_fd = OpenDir(dir);
  if (dir_fd < 0) return -1;
  struct stat page;
  int fd = -1;
  if (Describe(dir_fd, &g_dir_info) && IsOursAlone(g_dir_info)) {
    fd = sys::OpenAt(dir_fd, "control", O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  }
  sys::Close(dir_fd);
  if (fd < 0) return -1;
  // The last byte must be there, or reading the page would raise SIGBUS.
  if (Describe(fd, &page) && S_ISREG(page.st_mode) && IsOursAlone(page) &&
      page.st_size >= off_t{format::kControlBytes}) {
    return fd;
  }
  sys::Close(fd);
  return -1;
}

}  // namespace

constinit std::atomic<const std::atomic<uint32_t>*> g_state{&kOff};

format::ControlPage* Control() { return g_control; }
bool Traces(uint32_t trace_bit) { return g_control && (g_control->trace & trace_bit) != 0; }
const char* SessionDir() { return g_session_dir; }
uint32_t SessionOwner() { return g_dir_info.st_uid; }

void WakeTool() {
  g_control->changes.fetch_add(1, std::memory_order_release);
  sys::Call(SYS_futex, &g_control->changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

int OpenSessionDir() {
  const int fd = OpenDir(g_session_dir);
  struct stat info;
  if (fd < 0 || (Describe(fd, &info) && info.st_dev == g_dir_info.st_dev &&
                 info.st_ino == g_dir_info.st_ino)) {
    return fd;
  }
  sys::Close(fd);
  return -ESTALE;
}

bool MapControlPage() {
  const char* dir = std::getenv(format::kSessionDirVariable);
  if (dir == nullptr || dir[0] != '/') return false;
  if (std::strlen(dir) >= sizeof g_session_dir) return false;
  const int fd = OpenPage(dir);
  if (fd < 0) return false;
  void* memory = MAP_FAILED;
  {
    sys::ErrnoSaver errno_saver;
    memory = ::mmap(nullptr, format::kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  sys::Close(fd);
  if (memory == MAP_FAILED) return false;
  auto* page = static_cast<format::ControlPage*>(memory);
  if (!format::IsUsable(*page)) {
    sys::Unmap(memory, format::kControlBytes);
    return false;
  }
  Text(g_session_dir, sizeof g_session_dir).Add(dir);
  g_control = page;
  page->processes_attached.fetch_add(1, std::memory_order_relaxed);
  g_state.store(&page->state, std::memory_order_release);
  return true;
}

}  // namespace batchlight::inject
