// Finds the rows of the threads table for threads that are known by their numbers alone: of callers
// of CUDA, of samples.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "store/store.h"

namespace batchlight {

// A call, overhead or sample whose thread is known only by its number.
struct TidUse {
  ProcessId process;
  uint32_t tid;
  int64_t at_ns;
};

class ThreadsByTid {
 public:
  // Adds a thread to the store for every (process, tid) of `uses` that has none. Keeps the table in
  // order and renumbers the ThreadIds in all of the store's tables.
  ThreadsByTid(std::span<const TidUse> uses, Store& store);

  // None for tid 0 or an unknown process. If a number was used more than once, the latest thread
  // that had begun by then.
  ThreadId Find(const TidUse& use) const;

 private:
  using Key = std::pair<ProcessId, uint32_t>;

  void AddMissing(std::span<const TidUse> uses, Store& store);

  const ThreadsTable* threads_ = nullptr;
  std::map<Key, std::vector<ThreadId>> rows_;  // by start
};

}  // namespace batchlight
