// Which rank of a distributed job each process is, from whatever the recording has.
#pragma once

#include <cstdint>
#include <vector>

#include "store/store.h"

namespace batchlight {

// By row of store.processes, -1 if unknown. The first that is known of: processes.rank, the rank
// that MPI reported, the rank of the parent process.
std::vector<int32_t> FindProcessRanks(const Store& store);

}  // namespace batchlight
