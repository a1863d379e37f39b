// A job whose ranks call NCCL: what a store has to hold for that, by StoreBuilder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/testing/store_builder.h"
#include "store/store.h"

namespace batchlight::testing {

// NCCL's domain with the payload of its calls, all of one size, for one process. Of a store: first
// NcclMessage once, then this for each process, and NcclFinish of what Build returned.
void NcclMessage(StoreBuilder& build);
void NcclDomain(StoreBuilder& build, ProcessId process);
void NcclAllReduce(StoreBuilder& build, ThreadId thread, int64_t call_ns, int64_t start_ns,
                   int64_t end_ns);
void NcclFinish(Store& store);

class NcclRanks {
 public:
  explicit NcclRanks(size_t ranks);

  StoreBuilder& build() { return build_; }
  ThreadId thread(size_t rank) const { return threads_[rank]; }
  // The call of one rank at `call_ns`, and its kernel. All have the same size.
  void AllReduce(size_t rank, int64_t call_ns, int64_t start_ns, int64_t end_ns);

  Store Build();

 private:
  StoreBuilder build_;
  std::vector<ThreadId> threads_;
};

}  // namespace batchlight::testing
