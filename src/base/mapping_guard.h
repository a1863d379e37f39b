// Reading a mapped file that somebody cuts short meanwhile raises SIGBUS. With the guard the pages
// that are gone read as zeros instead, and are counted.
#pragma once

#include <cstdint>

namespace batchlight {

// For the whole process, once.
void GuardMappings();

// Pages that were gone when they were read or written.
uint64_t PagesCutAway();

}  // namespace batchlight
