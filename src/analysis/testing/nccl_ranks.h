// A job whose ranks call NCCL: what a store has to hold for that, by StoreBuilder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/testing/store_builder.h"
#include "store/store.h"

namespace batchlight::testing {

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
