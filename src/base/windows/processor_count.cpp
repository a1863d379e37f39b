#include <windows.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <thread>

#include "base/thread_pool.h"

namespace batchlight {

size_t ProcessorCount() {
  DWORD_PTR process = 0;
  DWORD_PTR machine = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &process, &machine) && process != 0) {
    return static_cast<size_t>(std::popcount(static_cast<uint64_t>(process)));
  }
  return std::max<size_t>(1, std::thread::hardware_concurrency());  // of several groups
}

}  // namespace batchlight
