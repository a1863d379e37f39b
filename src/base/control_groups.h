// What the control groups of this process (a container, a batch job, a service) leave to it. The
// limits of the groups around its own hold too. Both versions of the kernel's interface; where a
// container sees its own group as the root, the path that the kernel names is not there.
#pragma once

#include <cstdint>
#include <string>

namespace batchlight {

// Where the kernel shows them.
struct ControlGroups {
  std::string membership = "/proc/self/cgroup";
  std::string root = "/sys/fs/cgroup";
};

// Processors that the tightest quota of processor time is worth, rounded up; 0: there is none.
int QuotaProcessors(const ControlGroups& groups = {});

inline constexpr uint64_t kNoMemoryLimit = UINT64_MAX;

// Bytes of memory, or kNoMemoryLimit. What the kernel would take back from the group's
// page cache counts as free.
uint64_t FreeMemoryInGroups(const ControlGroups& groups = {});

}  // namespace batchlight
