// Identity of this process in the recording. Set at attach, renewed in a forked child.
#pragma once

#include <atomic>
#include <cstdint>

namespace batchlight::inject {

struct Process {
  uint32_t pid;
  uint32_t parent_pid;
  int64_t attach_ns;  // CLOCK_MONOTONIC; with the pid it names this process image
  int64_t start_ns;   // when the process itself began (fork or exec)
  bool forked;        // a child that has not exec'ed
  std::atomic<uint32_t> next_thread_index;
};
extern Process g_process;

// Fills g_process for this process. `forked`: in a child without exec.
void IdentifyProcess(bool forked);

}  // namespace batchlight::inject
