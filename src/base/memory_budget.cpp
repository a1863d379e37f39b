#include "base/memory_budget.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace batchlight {
namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;

// The number behind `key` in a file of lines "key number"; an empty key is the whole file.
// `fallback` where there is none ("max").
uint64_t NumberIn(const std::string& path, std::string_view key, uint64_t fallback) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const char* text = line.c_str() + key.size();
    char* end = nullptr;
    const uint64_t number = std::strtoull(text, &end, 10);
    if (end != text) return number;
  }
  return fallback;
}

uint64_t FreeOnMachine() {
  const uint64_t available = NumberIn("/proc/meminfo", "MemAvailable:", kNoLimit / 1024);
  const uint64_t swap = NumberIn("/proc/meminfo", "SwapFree:", 0);
  return available == kNoLimit / 1024 ? kNoLimit : (available + swap) * 1024;
}

// What the kernel would take back from the cgroup's page cache counts as free.
uint64_t FreeInCgroup() {
  std::ifstream file("/proc/self/cgroup");
  std::string path;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) path = line.substr(3);
  }
  uint64_t least = kNoLimit;
  while (true) {  // the limits of the groups around it hold too
    const std::string folder = "/sys/fs/cgroup" + path + "/";
    const uint64_t limit = NumberIn(folder + "memory.max", "", kNoLimit);
    if (limit != kNoLimit) {
      const uint64_t used = NumberIn(folder + "memory.current", "", 0);
      const uint64_t cache = NumberIn(folder + "memory.stat", "inactive_file ", 0);
      const uint64_t held = used - std::min(used, cache);
      least = std::min(least, limit - std::min(limit, held));
    }
    if (path.empty() || path == "/") return least;
    path.resize(path.rfind('/'));
  }
}

uint64_t FreeAddressSpace() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  const uint64_t pages = NumberIn("/proc/self/statm", "", 0);
  const uint64_t used = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, used);
}

std::string Gigabytes(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", static_cast<double>(bytes) * 1e-9);
  return text;
}

}  // namespace

uint64_t AvailableMemoryBytes() {
  if (const char* given = std::getenv("BATCHLIGHT_MEMORY"); given != nullptr && *given != '\0') {
    return std::strtoull(given, nullptr, 10);
  }
  return std::min({FreeOnMachine(), FreeInCgroup(), FreeAddressSpace()});
}

Status CheckMemory(const std::string& path, uint64_t needed_bytes) {
  const uint64_t available = AvailableMemoryBytes();
  if (needed_bytes <= available) return {};
  return InputError("cannot read " + path + ": it needs about " + Gigabytes(needed_bytes) +
                    " of memory, and " + Gigabytes(available) +
                    " are free. Read it on a larger machine, record less with --steps or --every, "
                    "or set BATCHLIGHT_MEMORY to the number of bytes that may be used");
}

}  // namespace batchlight
