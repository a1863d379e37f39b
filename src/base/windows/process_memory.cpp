#include "base/process_memory.h"

#include <windows.h>
// after windows.h
#include <psapi.h>

#include <algorithm>

namespace batchlight {

// What can still be committed: memory and page file, as swap counts elsewhere.
uint64_t FreeMemoryBytes() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (!GlobalMemoryStatusEx(&status)) return UINT64_MAX;
  return std::min<uint64_t>(status.ullAvailPageFile, status.ullAvailVirtual);
}

uint64_t TakenMemoryBytes() {
  PROCESS_MEMORY_COUNTERS counters{};
  counters.cb = sizeof counters;
  return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)
             ? counters.PagefileUsage
             : 0;
}

// Windows lets an allocation fail where memory and page file are used up, and ends nobody.
void LimitMemory(uint64_t) {}

// The program says itself how large its stacks are.
int RunWithEnoughStack(int (*run)(void* of), void* of) { return run(of); }

}  // namespace batchlight
