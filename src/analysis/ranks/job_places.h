// Which rank of a distributed job each process is, how many ranks there are, and which backend
// connects them: as recorded, never assumed.
//
// Rank: as process_ranks.h finds it, else NCCL's in the largest communicator of the process. World
// size: torch.distributed's, the launcher's, what a Kineto file says, the largest communicator,
// else the number of recorded ranks if those are 0..n-1 and n > 1. Backend: torch.distributed's,
// what a Kineto file says, "nccl" where NCCL was called, "gloo" or "mpi" where PyTorch's operators
// of that name were.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/ranks/nccl_calls.h"
#include "store/store.h"

namespace batchlight {

struct JobPlace {
  int32_t rank = -1;       // -1: unknown
  int32_t world_size = 0;  // 0: unknown
  std::string backend;     // "": unknown
};

// By row of `processes`.
std::vector<JobPlace> FindJobPlaces(const Store& store, const NcclCalls& nccl);

}  // namespace batchlight
