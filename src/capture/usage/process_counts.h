// What the kernel counts of a process: processor time, memory, bytes from and to disks.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <string>
#include <vector>

#include "capture/usage/kernel_file.h"
#include "format/records.h"

namespace batchlight::capture {

struct ProcessorTimes {
  uint64_t user_ns = 0;
  uint64_t system_ns = 0;
};

class ProcessCounts {
 public:
  explicit ProcessCounts(pid_t pid);

  // What it has used up by now; what the kernel keeps from us is 0. `again`: also what seldom
  // changes, otherwise as before. False: it is gone.
  bool Read(bool again, format::ProcessUsageRecord& usage);

  // Of the last Read().
  const std::string& name() const { return name_; }
  pid_t parent() const { return parent_; }
  // Of all programs that it has started and waited for, and of theirs.
  const ProcessorTimes& waited_for() const { return waited_for_; }

  // Processes that its first thread has started and that are not waited for yet.
  void AddChildren(std::vector<pid_t>& pids);

 private:
  // Whether it has run since the last time.
  bool ReadTimes(uint64_t system_ns, format::ProcessUsageRecord& usage);
  void ReadDisk();

  pid_t pid_;
  clockid_t clock_;  // of its processor time
  bool has_clock_;
  KernelFile stat_;
  KernelFile disk_;
  KernelFile schedule_;  // of the first thread
  KernelFile children_;  // likewise
  std::string name_;
  pid_t parent_ = 0;
  ProcessorTimes waited_for_;
  // As last told: times never fall.
  uint64_t user_ns_ = 0;
  uint64_t system_ns_ = 0;
  uint64_t read_bytes_ = 0;
  uint64_t written_bytes_ = 0;
  uint32_t processors_ = 0;
};

}  // namespace batchlight::capture
