#include <sched.h>

#include <algorithm>
#include <thread>

#include "base/control_groups.h"
#include "base/thread_pool.h"

namespace batchlight {

size_t ProcessorCount() {
  static const auto quota = static_cast<size_t>(QuotaProcessors());
  cpu_set_t set;
  const size_t usable = sched_getaffinity(0, sizeof set, &set) == 0
                            ? static_cast<size_t>(CPU_COUNT(&set))
                            : std::thread::hardware_concurrency();
  return std::max<size_t>(1, quota > 0 ? std::min(quota, usable) : usable);
}

}  // namespace batchlight
