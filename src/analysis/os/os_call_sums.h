// Calls of the C library by name: those that were recorded one by one, and those that were too
// short.
#pragma once

#include <cstdint>
#include <vector>

#include "store/store.h"

namespace batchlight {

struct OsCallSum {
  StringId name;
  uint64_t calls = 0;
  uint64_t recorded = 0;  // of them, those in os_calls
  int64_t total_ns = 0;   // locks taken without a wait count 0
  int64_t recorded_ns = 0;
  int64_t longest_ns = 0;  // of those recorded
  uint64_t bytes = 0;      // read or written
  uint64_t threads = 0;
};

// By total time.
std::vector<OsCallSum> SumOsCalls(const Store& store);

}  // namespace batchlight
