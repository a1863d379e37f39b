// How much memory reading may take, so that it ends with a sentence and not by the kernel's hand.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace batchlight {

// The least of what the machine has free, what the process's cgroup and what its address space
// (`ulimit -v`) still allow. BATCHLIGHT_MEMORY, a number of bytes, takes the place of all three.
uint64_t AvailableMemoryBytes();

// Error (kInput) if `needed_bytes` for reading `path` are more than that: how much, and what to do.
Status CheckMemory(const std::string& path, uint64_t needed_bytes);

}  // namespace batchlight
