#include "inject/buffer/fork.h"

#include "inject/buffer/chunk_file.h"
#include "inject/buffer/facts.h"
#include "inject/rt/control.h"
#include "inject/rt/guard.h"
#include "inject/rt/lock.h"
#include "inject/rt/process.h"

namespace batchlight::inject {

void StartOverAfterFork() {
  g_fork_count.fetch_add(1, std::memory_order_relaxed);  // frees all locks
  t_thread.stream = nullptr;
  t_thread.budget_bytes = 0;
  t_thread.chunk_count = 0;
  t_thread.index_plus_1 = 0;
  for (auto& counter : g_counters) counter.store(0, std::memory_order_relaxed);
  ForgetProcessFile();
  ForgetFactsWritten();
  IdentifyProcess(true);
  Control()->processes_attached.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace batchlight::inject
