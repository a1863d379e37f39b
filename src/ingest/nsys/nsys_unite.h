// The last steps of the nsys importer: unites the processes and threads that the jobs numbered on
// their own, orders the tables as schema.def says and fills in what follows from the order.
#pragma once

#include <span>

#include "ingest/nsys/nsys_load.h"

namespace batchlight::nsys {

// Fills store.processes and store.threads and rewrites the jobs' numbers into their rows. Names
// come from PROCESSES and ThreadNames. The last of `loads` takes the notes of both. Errors are
// those of NsysTable.
Status UniteThreads(const NsysDatabase& database, std::span<Load> loads, Store& store);

// Sorts every table, links kernels and copies to the calls that made them (by process and
// correlation id), and nests push/pop ranges.
void OrderAndLink(Store& store);

}  // namespace batchlight::nsys
