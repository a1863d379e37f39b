// Which rows of the threads table the callers of CUDA are.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "store/store.h"

namespace batchlight {

// A call or overhead whose thread is known by number only.
struct TidUse {
  ProcessId process;
  uint32_t tid;
  int64_t at_ns;
};

class CudaThreads {
 public:
  // Adds to the store a thread for every (process, tid) of `uses` that has none, keeping the order
  // of the table; ThreadIds in all of the store's tables are renumbered accordingly.
  CudaThreads(std::span<const TidUse> uses, Store& store);

  // None for tid 0 or an unknown process. A number that was used twice gives the later thread that
  // had begun by then.
  ThreadId Find(const TidUse& use) const;

 private:
  using Key = std::pair<ProcessId, uint32_t>;

  void AddMissing(std::span<const TidUse> uses, Store& store);

  const ThreadsTable* threads_ = nullptr;
  std::map<Key, std::vector<ThreadId>> rows_;  // by start
};

}  // namespace batchlight
