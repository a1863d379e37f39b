// What the kernel counts of the machine and of the control groups around this process.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <array>

#include "base/control_groups.h"
#include "capture/usage/kernel_file.h"
#include "format/records.h"

namespace batchlight::capture {

class MachineCounts {
 public:
  // Of the processors that `pid` may run on: as long as it lives, at that moment.
  explicit MachineCounts(pid_t pid) : pid_(pid) {}

  void Read(format::MachineUsageRecord& usage);

 private:
  void ReadProcessors(format::MachineUsageRecord& usage);
  void ReadGroup(format::MachineUsageRecord& usage);

  pid_t pid_;
  std::array<cpu_set_t, 8> processors_{};  // 8192 of them
  KernelFile stat_{"/proc/stat"};
  KernelFile load_{"/proc/loadavg"};
  KernelFile memory_{"/proc/meminfo"};
  KernelFile cpu_pressure_{"/proc/pressure/cpu"};
  KernelFile io_pressure_{"/proc/pressure/io"};
  KernelFile memory_pressure_{"/proc/pressure/memory"};
  GroupLimits limits_ = TightestLimits();
  KernelFile group_counts_{limits_.cpu_counts};
  KernelFile group_time_{limits_.cpu_time};
  KernelFile group_memory_{limits_.memory_used};
};

}  // namespace batchlight::capture
