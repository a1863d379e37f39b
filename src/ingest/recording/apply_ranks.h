// Which rank of a distributed job each process is, by what the program and its environment said.
#pragma once

#include "store/store.h"

namespace batchlight {

// Fills processes.rank from the properties: torch.distributed's rank where the program told it,
// else the variable of the first launcher (format/launchers.def) that any process has. -1 =
// unknown.
void ApplyRanks(Store& store);

}  // namespace batchlight
