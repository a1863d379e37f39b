// What the kernel counts of a process: processor time, memory, bytes from and to disks.
#pragma once

#include <sys/types.h>

#include "capture/usage/kernel_file.h"
#include "format/records.h"

namespace batchlight::capture {

class ProcessCounts {
 public:
  explicit ProcessCounts(pid_t pid);

  // What it has used up by now; what the kernel keeps from us is 0. False: it is gone.
  bool Read(format::ProcessUsageRecord& usage);

  pid_t pid() const { return pid_; }

 private:
  void ReadTimes(uint64_t system_ns, format::ProcessUsageRecord& usage);

  pid_t pid_;
  KernelFile stat_;
  KernelFile disk_;
  KernelFile schedule_;  // of the first thread
  // As last told: they never fall.
  uint64_t user_ns_ = 0;
  uint64_t system_ns_ = 0;
};

}  // namespace batchlight::capture
