#include "base/mapping_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

namespace batchlight {
namespace {

std::atomic<uint64_t> pages_cut_away{0};

// An address behind the end of its file (BUS_ADRERR): a page of zeros takes its place, and the
// access is tried again. Anything else ends the process as it would have without us.
void PutZeros(int signal_number, siginfo_t* info, void*) {
  static const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  void* page = reinterpret_cast<void*>(address / page_bytes * page_bytes);
  if (info->si_code == BUS_ADRERR && address != 0 &&
      mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
           0) != MAP_FAILED) {
    pages_cut_away.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  signal(signal_number, SIG_DFL);
}

}  // namespace

void GuardMappings() {
  struct sigaction action {};
  action.sa_sigaction = PutZeros;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigaction(SIGBUS, &action, nullptr);
}

uint64_t PagesCutAway() { return pages_cut_away.load(std::memory_order_relaxed); }

}  // namespace batchlight
