#include "inject/rt/cut_files.h"

#include <signal.h>

#include <cstring>

#include "inject/rt/control.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {
namespace {

struct Stretch {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// Reads /proc/self/maps byte by byte: nothing else is allowed in a signal handler, on a stack that
// may be small.
class MapsReader {
 public:
  MapsReader() : fd_(sys::Open("/proc/self/maps", O_RDONLY)) {}
  ~MapsReader() {
    if (fd_ >= 0) sys::Close(fd_);
  }
  int Next() {
    if (at_ == end_) {
      const long count = fd_ >= 0 ? sys::Read(fd_, buffer_, sizeof buffer_) : 0;
      if (count <= 0) return -1;
      at_ = 0;
      end_ = static_cast<size_t>(count);
    }
    return static_cast<unsigned char>(buffer_[at_++]);
  }
  // A hexadecimal number and the byte behind it.
  uintptr_t Number() {
    uintptr_t number = 0;
    for (int c = Next(); c > 0; c = Next()) {
      if (c >= '0' && c <= '9') {
        number = number * 16 + static_cast<uintptr_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        number = number * 16 + static_cast<uintptr_t>(c - 'a' + 10);
      } else {
        break;
      }
    }
    return number;
  }
  // Whether the rest of the line names a file in `folder`.
  bool NamesFileIn(const char* folder) {
    int c = Next();
    while (c > 0 && c != '\n' && c != '/') c = Next();
    bool same = c == '/';
    for (; same && *folder != 0; ++folder) {
      same = c == *folder;
      if (c <= 0 || c == '\n') return false;
      c = Next();
    }
    same = same && c == '/';
    while (c > 0 && c != '\n') c = Next();
    return same;
  }

 private:
  int fd_;
  char buffer_[512];
  size_t at_ = 0;
  size_t end_ = 0;
};

// The mapping of a file in the live folder that holds the address; empty if there is none.
Stretch FindOurMapping(uintptr_t address) {
  MapsReader maps;
  for (;;) {
    Stretch stretch;
    stretch.begin = maps.Number();
    stretch.end = maps.Number();
    if (stretch.end == 0) return {};
    const bool ours = maps.NamesFileIn(SessionDir());
    if (ours && address >= stretch.begin && address < stretch.end) return stretch;
  }
}

// By system calls alone: with `--trace osrt` the C library's mmap is a shim, which reads the
// control page, and that may be what was cut.
bool PutMemory(uintptr_t address) {
  constexpr uintptr_t kPage = 4096;  // or a part of a larger one, which mmap refuses
  const Stretch ours = FindOurMapping(address);
  if (ours.end == 0) return false;
  uintptr_t begin = address / kPage * kPage;
  for (int attempt = 0; attempt < 5; ++attempt, begin = begin / (2 * kPage) * (2 * kPage)) {
    if (begin < ours.begin) begin = ours.begin;
    const long put = sys::Call(SYS_mmap, begin, ours.end - begin, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (!sys::IsError(put)) return true;
  }
  return false;
}

void OnBusError(int number, siginfo_t* info, void*) {
  sys::ErrnoSaver errno_saver;
  if (info->si_code == BUS_ADRERR && PutMemory(reinterpret_cast<uintptr_t>(info->si_addr))) {
    Control()->files_cut.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  struct sigaction standard;
  std::memset(&standard, 0, sizeof standard);
  ::sigaction(number, &standard, nullptr);
  // A fault comes again by itself; a signal that was sent does not.
  if (info->si_code <= 0) sys::Call(SYS_tgkill, sys::Pid(), sys::Tid(), number);
}

}  // namespace

void SurviveCutFiles() {
  struct sigaction present;
  if (::sigaction(SIGBUS, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) return;
  struct sigaction ours;
  std::memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = OnBusError;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigaction(SIGBUS, &ours, nullptr);
}

bool DieOfCutFiles() {
  struct sigaction present;
  if (::sigaction(SIGBUS, nullptr, &present) != 0 || present.sa_sigaction != OnBusError) {
    return false;
  }
  struct sigaction standard;
  std::memset(&standard, 0, sizeof standard);
  return ::sigaction(SIGBUS, &standard, nullptr) == 0;
}

}  // namespace batchlight::inject
