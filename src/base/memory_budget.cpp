#include "base/memory_budget.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

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

std::string Gigabytes(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", static_cast<double>(bytes) * 1e-9);
  return text;
}

constexpr const char* kWhatToDo =
    "Read it on a larger machine, record less with --steps or --every, "
    "or set BATCHLIGHT_MEMORY to the number of bytes that may be used";

// Resident pages of this process that are no file's.
uint64_t TakenBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long total = 0, resident = 0, of_files = 0;
  const int read = std::fscanf(file, "%llu %llu %llu", &total, &resident, &of_files);
  std::fclose(file);
  if (read != 3 || resident < of_files) return 0;
  return (resident - of_files) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

uint64_t AvailableMemoryBytes() {
  if (const char* given = std::getenv("BATCHLIGHT_MEMORY"); given != nullptr && *given != '\0') {
    return std::strtoull(given, nullptr, 10);
  }
  return std::min({FreeOnMachine(), FreeMemoryInGroups(), FreeAddressSpace()});
}

Status CheckMemory(const std::string& path, uint64_t needed_bytes) {
  const uint64_t available = AvailableMemoryBytes();
  if (needed_bytes <= available) return {};
  return InputError("cannot read " + path + ": it needs about " + Gigabytes(needed_bytes) +
                    " of memory, and " + Gigabytes(available) + " are free. " + kWhatToDo);
}

MemoryWatch::MemoryWatch(std::string path)
    : path_(std::move(path)),
      available_bytes_(AvailableMemoryBytes()),
      taken_before_bytes_(TakenBytes()) {}

Status MemoryWatch::Check() const {
  const uint64_t now_bytes = TakenBytes();
  const uint64_t taken_bytes = now_bytes - std::min(now_bytes, taken_before_bytes_);
  if (taken_bytes <= available_bytes_ / 2) return {};
  return InputError("cannot read " + path_ + ": a part of it took " + Gigabytes(taken_bytes) +
                    " of memory, and of " + Gigabytes(available_bytes_) +
                    " that were free the other half is needed to put it in order. " + kWhatToDo);
}

}  // namespace batchlight
