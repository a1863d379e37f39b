#include "base/process_memory.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "base/control_groups.h"
#include "base/kernel_text.h"

namespace batchlight {
namespace {

uint64_t FreeOnMachine() {
  const uint64_t available = NumberIn("/proc/meminfo", "MemAvailable:", kNoMemoryLimit / 1024);
  const uint64_t swap = NumberIn("/proc/meminfo", "SwapFree:", 0);
  return available == kNoMemoryLimit / 1024 ? kNoMemoryLimit : (available + swap) * 1024;
}

uint64_t FreeAddressSpace() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoMemoryLimit;
  const uint64_t pages = NumberIn("/proc/self/statm", "", 0);
  const uint64_t used = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, used);
}

constexpr size_t kStackBytes = 8 << 20;  // what the limit usually is
constexpr size_t kGuardBytes = 64 << 10;

// makecontext() hands over nothing but numbers of type int.
struct StackCall {
  int (*run)(void* of);
  void* of;
  int result;
};
StackCall g_call;

void RunCall() { g_call.result = g_call.run(g_call.of); }

void GiveThreadsEnough() {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace

uint64_t FreeMemoryBytes() {
  return std::min({FreeOnMachine(), FreeMemoryInGroups(), FreeAddressSpace()});
}

uint64_t TakenMemoryBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long total = 0, resident = 0, of_files = 0;
  const int read = std::fscanf(file, "%llu %llu %llu", &total, &resident, &of_files);
  std::fclose(file);
  if (read != 3 || resident < of_files) return 0;
  return (resident - of_files) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void LimitMemory(uint64_t more_bytes) {
  rlimit limit{};
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return;
  unsigned long long data_pages = 0;
  const int read = std::fscanf(file, "%*u %*u %*u %*u %*u %llu", &data_pages);
  std::fclose(file);
  if (read != 1 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const auto threads = static_cast<uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const uint64_t stacks_bytes = (threads - 1) * (kStackBytes + kGuardBytes);
  const uint64_t now_bytes = data_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t room = kNoMemoryLimit - stacks_bytes - now_bytes;
  if (more_bytes >= room || now_bytes + stacks_bytes + more_bytes >= limit.rlim_cur) return;
  limit.rlim_cur = now_bytes + stacks_bytes + more_bytes;
  setrlimit(RLIMIT_DATA, &limit);
}

int RunWithEnoughStack(int (*run)(void* of), void* of) {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kStackBytes) return run(of);
  GiveThreadsEnough();
  void* const memory = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  ucontext_t here, there;
  if (memory == MAP_FAILED || getcontext(&there) != 0) return run(of);
  mprotect(memory, kGuardBytes, PROT_NONE);
  there.uc_stack.ss_sp = static_cast<char*>(memory) + kGuardBytes;
  there.uc_stack.ss_size = kStackBytes;
  there.uc_link = &here;
  g_call = {run, of, 0};
  makecontext(&there, RunCall, 0);
  // Its memory stays: the process ends soon after.
  return swapcontext(&here, &there) == 0 ? g_call.result : run(of);
}

}  // namespace batchlight
