#include "inject/rt/control.h"

#include <cstdlib>

#include "format/control_check.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject {
namespace {

constexpr std::atomic<uint32_t> kOff{0};
format::ControlPage* g_control = nullptr;
char g_session_dir[3072];

}  // namespace

constinit std::atomic<const std::atomic<uint32_t>*> g_state{&kOff};

format::ControlPage* Control() { return g_control; }
bool Traces(uint32_t trace_bit) { return g_control && (g_control->trace & trace_bit) != 0; }
const char* SessionDir() { return g_session_dir; }

bool MapControlPage() {
  const char* dir = std::getenv(format::kSessionDirVariable);
  if (dir == nullptr || dir[0] != '/') return false;
  char path[sizeof g_session_dir + 16];
  Text name(path, sizeof path);
  if (!name.Add(dir).Add("/control").ok()) return false;
  const int fd = sys::Open(path, O_RDWR | O_NOFOLLOW);
  if (fd < 0) return false;
  // The last byte must be there, or reading the page would raise SIGBUS.
  char last = 0;
  const bool whole =
      sys::Call(SYS_pread64, fd, &last, size_t{1}, off_t{format::kControlBytes - 1}) == 1;
  void* memory = MAP_FAILED;
  if (whole) {
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
