// The last collectives of each rank of a recording, as its flight recorder would have kept them: a
// job that hangs tells of itself also where PyTorch dumps nothing.
#pragma once

#include <vector>

#include "analysis/desync/flight_dump.h"
#include "store/store.h"

namespace batchlight {

struct RecordedCalls {
  std::vector<FlightDump> dumps;
  std::vector<ProcessId> processes;  // whose each is
};

// By rank, each with what it called since the last call that is known to have ended on all ranks of
// the communicator (at most 1,000 calls of each). A call is known to have ended by its kernel on
// any of them, or by that of a later one, and if all have made it: a kernel that is broken off ends
// too. The kernels of a process that waits in one come late, or never: CUPTI keeps what it recorded
// beside one that runs. A process whose GPU began other work five seconds later does not wait in
// it: calls of a CUDA graph have no kernel of their own. Empty: nothing can be told, as of fewer
// than two ranks with calls of NCCL, without kernels of any, or where only a window of time was
// recorded. created_ns: of the recording.
RecordedCalls LastRecordedCalls(const Store& store);

}  // namespace batchlight
