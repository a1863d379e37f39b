// Attaching this process to the session, and the end of the process.
#pragma once

#include <cstdint>

#include "inject/rt/guard.h"

namespace batchlight::inject {

// Joins the session named by the environment; does nothing the second time. True if there is one.
bool Attach();

enum class ExitHow : uint32_t { kExit = 0, kQuickExit = 1, kExec = 2 };

// Writes ProcessExit and closes the calling thread's chunk. Does nothing for a process that has
// recorded nothing while no events are being collected.
void RecordExit(const Guard& guard, int status, ExitHow how);

}  // namespace batchlight::inject
