// Exact counts of the lines of chosen Python functions (profile --lines).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace batchlight {

struct PythonLineCounts {
  uint32_t line = 0;
  uint64_t hits = 0;
  int64_t time_ns = 0;  // until the function's next line
  // With --python-memory; 0 without.
  int64_t grown_bytes = 0;       // allocated minus freed
  uint64_t allocated_bytes = 0;  // meanwhile
  uint64_t memory_bytes = 0;  // most of the process that was in RAM at its end; 0 = not looked at
  std::string_view text;      // without its end; the store's
};

struct PythonTimedFunction {
  StringId file;
  StringId name;  // qualified
  uint32_t first_line = 0;
  int64_t total_ns = 0;                 // of all lines
  bool has_memory = false;              // they have bytes
  std::vector<PythonLineCounts> lines;  // all of the source, and what ran besides
};

// Over all threads and processes; in the order of file and line.
std::vector<PythonTimedFunction> CountPythonLines(const Store& store);

}  // namespace batchlight
