// What the control groups of this process (a container, a batch job, a service) leave to it. The
// limits of the groups around its own hold too. Both versions of the kernel's interface; where a
// container sees its own group as the root, the path that the kernel names is not there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace batchlight {

// Where the kernel shows them.
struct ControlGroups {
  std::string membership = "/proc/self/cgroup";
  std::string root = "/sys/fs/cgroup";
};

// Processors that the tightest quota of processor time is worth, rounded up; 0: there is none.
int QuotaProcessors(const ControlGroups& groups = {});

inline constexpr uint64_t kNoMemoryLimit = UINT64_MAX;

// The tightest limits, and the files in which their groups count; without a limit those of the
// process's own group. A file need not be there.
struct GroupLimits {
  double processors = 0;      // that the quota is worth; 0: there is none
  std::string cpu_counts;     // lines "key number", with the keys below
  std::string cpu_time;       // likewise or, with an empty key, one number
  std::string_view time_key;  // of processor time
  std::string_view throttled_key;
  int64_t unit_ns = 1;  // of both times
  uint64_t memory_bytes = kNoMemoryLimit;
  std::string memory_used;  // one number
};
inline constexpr std::string_view kPeriodsKey = "nr_periods ";
inline constexpr std::string_view kThrottledPeriodsKey = "nr_throttled ";
GroupLimits TightestLimits(const ControlGroups& groups = {});

// Bytes of memory, or kNoMemoryLimit. What the kernel would take back from the group's
// page cache counts as free.
uint64_t FreeMemoryInGroups(const ControlGroups& groups = {});

}  // namespace batchlight
