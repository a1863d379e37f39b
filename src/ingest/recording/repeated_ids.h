// Correlation ids that CUPTI gave to many calls.
#pragma once

#include <span>

#include "store/store.h"

namespace batchlight {

// With CUPTI 13.0, all calls of the thread that called cudaProfilerStart with recording off have
// one id from then on, and so has the work that they launch. The records are in the order of the
// launches: the n-th kernel of an id is of the n-th call that launches kernels, likewise copies and
// sets. Where their numbers agree, calls and work get ids of their own; ids of which that is not so
// stay. To be called while the tables are in the order of the records; `processes` are those of the
// calls.
void SeparateRepeatedIds(std::span<const ProcessId> processes, Store& store);

}  // namespace batchlight
