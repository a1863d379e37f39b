// Runs independent pieces of work on all processors. The tool's only way to start threads.
#pragma once

#include <cstddef>
#include <functional>

namespace batchlight {

// Calls body(i) once for every i in [0, count), on up to ProcessorCount() threads; returns when
// all have ended; on fewer, down to the caller's own, where no more can be started. The first
// exception of body (memory ran out) ends the work and is thrown again here. Calls may nest: the
// inner one then runs on its caller.
void ParallelFor(size_t count, const std::function<void(size_t)>& body);

// That this process may use: its affinity, and what a control group's quota is worth.
size_t ProcessorCount();

}  // namespace batchlight
