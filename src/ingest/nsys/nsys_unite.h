// Unites the processes and threads that the jobs numbered on their own.
#pragma once

#include <span>

#include "ingest/nsys/nsys_load.h"

namespace batchlight::nsys {

// Fills store.processes and store.threads and rewrites the jobs' numbers into their rows. Names
// come from PROCESSES and ThreadNames. The last of `loads` takes the notes of both. Errors are
// those of NsysTable.
Status UniteThreads(const NsysDatabase& database, std::span<Load> loads, Store& store);

}  // namespace batchlight::nsys
