#include "inject/buffer/fork.h"

#include <atomic>
#include <new>

#include "format/layout.h"
#include "inject/buffer/chunk_file.h"
#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#include "inject/rt/control.h"
#include "inject/rt/guard.h"
#include "inject/rt/lock.h"
#include "inject/rt/process.h"
#include "inject/rt/sys.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18  // Linux 4.14
#endif

namespace batchlight::inject {
namespace {

// In a page that a child sees as zeros. A child of vfork shares its parent's memory and sees what
// the parent sees.
enum ForkMark : uint32_t { kWiped, kStartingOver, kReady };
constinit std::atomic<uint32_t>* g_mark = nullptr;  // nullptr: the kernel cannot wipe it

}  // namespace

void WatchForks() {
  void* const page = sys::MapMemory(format::kPageBytes);
  if (page == nullptr) return;
  if (!sys::Advise(page, format::kPageBytes, MADV_WIPEONFORK)) {
    return sys::Unmap(page, format::kPageBytes);
  }
  g_mark = new (page) std::atomic<uint32_t>(kReady);
}

bool StartOverIfForked(bool is_child) {
  if (g_mark == nullptr) {
    if (is_child) StartOverAfterFork();
    return true;
  }
  uint32_t mark = kWiped;
  if (g_mark->compare_exchange_strong(mark, kStartingOver, std::memory_order_acquire)) {
    StartOverAfterFork();
    return true;
  }
  constexpr int kMostTurns = 100;
  for (int turn = 0; mark != kReady && turn < kMostTurns; ++turn) {
    sys::Call(SYS_sched_yield);
    mark = g_mark->load(std::memory_order_acquire);
  }
  return mark == kReady;
}

void StartOverAfterFork() {
  g_fork_count.fetch_add(1, std::memory_order_relaxed);  // frees all locks
  t_thread.stream = nullptr;
  t_thread.budget_bytes = 0;
  t_thread.chunk_count = 0;
  t_thread.index_plus_1 = 0;
  for (auto& counter : g_counters) counter.store(0, std::memory_order_relaxed);
  ThreadStream::ForgetStreams();
  ForgetProcessFile();
  ForgetFactsWritten();
  IdentifyProcess(true);
  Control()->processes_attached.fetch_add(1, std::memory_order_relaxed);
  if (g_mark != nullptr) g_mark->store(kReady, std::memory_order_release);
}

}  // namespace batchlight::inject
