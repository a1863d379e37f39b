// Which rank of a distributed job each process is, told by whatever the recording holds.
#pragma once

#include <cstdint>
#include <vector>

#include "store/store.h"

namespace batchlight {

// By row of store.processes, -1 for unknown. The first that is known of: RANK and its like in the
// environment, the rank MPI gave, the rank of the process that started it.
std::vector<int32_t> FindProcessRanks(const Store& store);

}  // namespace batchlight
