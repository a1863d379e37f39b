// nsys's ids of processes and threads: [hardware 8 | VM 8 | pid 24 | tid 24]. A globalPid has tid
// 0.
#pragma once

#include <cstdint>

namespace batchlight::nsys {

inline constexpr int64_t kProcessMask = ~int64_t{0xffffff};
inline constexpr int64_t kVirtualMachine = int64_t{1} << 48;  // of what we export

constexpr uint32_t PidOf(int64_t global) { return static_cast<uint32_t>(global >> 24) & 0xffffff; }
constexpr uint32_t TidOf(int64_t global) { return static_cast<uint32_t>(global) & 0xffffff; }

// Where one process runs.
struct ProcessPlace {
  uint64_t hardware = 0;
  uint64_t vm = 1;
  uint64_t pid = 0;
};
constexpr int64_t GlobalPid(const ProcessPlace& place) {
  return static_cast<int64_t>(place.hardware << 56 | place.vm << 48 | place.pid << 24);
}
// Of a process of ours.
constexpr int64_t GlobalPid(int64_t pid) { return kVirtualMachine | (pid & 0xffffff) << 24; }
constexpr int64_t GlobalTid(int64_t global_pid, int64_t tid) {
  return (global_pid & kProcessMask) | (tid & ~kProcessMask);
}

}  // namespace batchlight::nsys
