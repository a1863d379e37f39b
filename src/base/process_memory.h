// What the operating system says of memory.
#pragma once

#include <cstdint>

namespace batchlight {

// That this process may still take: the least of what the machine has free, what the process's
// cgroup and what its address space (`ulimit -v`) still allow.
uint64_t FreeMemoryBytes();

// Resident pages of this process that are no file's.
uint64_t TakenMemoryBytes();

}  // namespace batchlight
