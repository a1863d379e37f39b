#include "base/process_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
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

}  // namespace batchlight
