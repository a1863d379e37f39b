// How much memory reading may take, so that it ends with a sentence and not by the kernel's hand.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace batchlight {

// The least of what the machine has free, what the process's cgroup and what its address space
// (`ulimit -v`) still allow. BATCHLIGHT_MEMORY, a number of bytes, takes the place of all three.
uint64_t AvailableMemoryBytes();

// Error (kInput) if `needed_bytes` for reading `path` are more than that: how much, and what to do.
Status CheckMemory(const std::string& path, uint64_t needed_bytes);

// "Read it on a larger machine, ..."
extern const char* const kWhatToDoForMemory;

// The same for an input that does not say how much it needs: watches what this process takes while
// it is read. Pages of mapped files do not count. Threads may share one.
class MemoryWatch {
 public:
  explicit MemoryWatch(std::string path);

  // Error (kInput) once reading took a third of what was free when it began: to order and join what
  // was read takes as much again. Costs as much as reading a small file of /proc.
  Status Check() const;

 private:
  std::string path_;
  uint64_t available_bytes_;
  uint64_t taken_before_bytes_;
};

}  // namespace batchlight
