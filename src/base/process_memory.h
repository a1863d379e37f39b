// What the operating system says of memory, and stacks that do not depend on its limit.
#pragma once

#include <cstdint>

namespace batchlight {

// That this process may still take: the least of what the machine has free, what the process's
// cgroup and what its address space (`ulimit -v`) still allow.
uint64_t FreeMemoryBytes();

// Resident pages of this process that are no file's.
uint64_t TakenMemoryBytes();

// From here on an allocation fails (std::bad_alloc) once this process has taken so much more, and
// the stacks of its threads. Processes that it starts inherit that. Never more than the limit was.
void LimitMemory(uint64_t more_bytes);

// run(of), on a stack of its own where the present one may not grow far (`ulimit -s`); threads that
// are started from then on get such stacks too. The limit itself is as it was: programs inherit it.
// No exception may leave `run`.
int RunWithEnoughStack(int (*run)(void* of), void* of);

}  // namespace batchlight
