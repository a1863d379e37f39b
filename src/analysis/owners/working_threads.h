// The threads of a process that run its backward passes or launch its kernels.
#pragma once

#include <vector>

#include "store/store.h"

namespace batchlight {

// Of each process, by row.
std::vector<std::vector<ThreadId>> FindWorkingThreads(const Store& store);

}  // namespace batchlight
