#include "inject/rt/process.h"

#include "inject/rt/guard.h"
#include "inject/rt/lock.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {

constinit Process g_process = {};
constinit std::atomic<uint64_t> g_counters[format::kCounterSlots] = {};
constinit std::atomic<uint32_t> g_fork_count{0};
constinit __thread ThreadState t_thread = {};

void IdentifyProcess(bool forked) {
  g_process.pid = static_cast<uint32_t>(sys::Pid());
  g_process.parent_pid = static_cast<uint32_t>(sys::ParentPid());
  g_process.attach_ns = sys::Nanoseconds(CLOCK_MONOTONIC);
  // Exact enough for a fork; for an exec it is the end of the dynamic linker's work.
  g_process.start_ns = g_process.attach_ns;
  g_process.forked = forked;
  g_process.next_thread_index.store(0, std::memory_order_relaxed);
}

}  // namespace batchlight::inject
