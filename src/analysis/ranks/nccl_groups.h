// Calls between ncclGroupStart and ncclGroupEnd, whose kernel is launched by the end: what PyTorch
// makes of all_to_all (a Send and a Recv for each rank), of the sends of a pipeline, and of
// collectives that are coalesced.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/ranks/nccl_calls.h"

namespace batchlight {

// Sees the ranges in their order, those of a thread one after the other.
class NcclGroups {
 public:
  explicit NcclGroups(NcclCalls& calls) : calls_(calls) {}

  void Begin(ThreadId thread);
  // The last of the calls was made. `peer`: the other rank of a Send or Recv, else -1.
  void Add(ThreadId thread, int64_t peer);
  // `range`: of ncclGroupEnd. Sends and Recvs of all with all become one AlltoAll.
  void End(ThreadId thread, uint32_t range);

 private:
  bool IsAllToAll() const;
  void Fold(uint32_t range);

  NcclCalls& calls_;
  ThreadId thread_;
  size_t depth_ = 0;
  std::vector<int64_t> peers_;  // of the last calls, which are those of the group
};

}  // namespace batchlight
