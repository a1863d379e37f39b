// What is code in the memory of each process that runs, by what the kernel tells of them. A process
// that has ended is forgotten: a job of days starts millions.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "native/address_space.h"

namespace batchlight::capture {

class ProcessSpaces {
 public:
  // Of a process that nothing is known of: empty. Valid until the next change.
  const native::AddressSpace& Find(uint32_t pid) const;
  // To change, without changing what other processes share with it since a fork.
  native::AddressSpace& Change(uint32_t pid);

  // A thread began; `parent_pid` is another's where it is a process.
  void Begin(uint32_t pid, uint32_t tid, uint32_t parent_pid);
  // Another program takes the process's place: one thread, nothing mapped.
  void Exec(uint32_t pid);
  void End(uint32_t pid, uint32_t tid);

  size_t size() const { return processes_.size(); }

 private:
  struct Process {
    std::shared_ptr<native::AddressSpace> space;
    // That began and did not end. The first one may end before others. One whose beginning the
    // kernel lost is not among them.
    std::unordered_set<uint32_t> threads;
  };

  std::unordered_map<uint32_t, Process> processes_;  // by pid
};

}  // namespace batchlight::capture
