// Ranks that call NCCL in groups, each call with a payload of its own: communicator, bytes, peer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/testing/store_builder.h"

namespace batchlight::testing {

struct NcclStoreCall {
  std::string operation;  // "Send"
  uint64_t communicator = 0;
  uint64_t bytes = 0;
  int32_t peer = -1;
};

class NcclStore {
 public:
  // A process that begins with ncclCommInitRank: its rank in a communicator of so many.
  ThreadId Rank(int32_t rank, uint64_t communicator, uint32_t ranks);
  // ncclGroupStart, the calls, ncclGroupEnd, which launches one kernel of that length. Each group
  // of a thread comes behind the one before.
  void Group(ThreadId thread, const std::vector<NcclStoreCall>& calls, int64_t kernel_ns = 1000,
             int64_t idle_ns = 0);
  // A kernel that computes for so long.
  void Compute(ThreadId thread, int64_t ns);
  // A range "step" around all groups since the last.
  void Step(ThreadId thread);
  Store Build();

 private:
  void Call(ThreadId thread, const std::string& name, const std::string& payload);

  StoreBuilder build_;
  std::map<uint32_t, int64_t> now_ns_;                            // by thread
  std::map<uint32_t, int64_t> step_ns_;                           // where its step began
  std::map<std::pair<uint32_t, int64_t>, std::string> payloads_;  // by thread and start
};

}  // namespace batchlight::testing
