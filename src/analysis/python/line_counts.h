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
  int64_t time_ns = 0;    // until the function's next line
  std::string_view text;  // without its end; the store's
};

struct PythonTimedFunction {
  StringId file;
  StringId name;  // qualified
  uint32_t first_line = 0;
  int64_t total_ns = 0;                 // of all lines
  std::vector<PythonLineCounts> lines;  // all of the source, and what ran besides
};

// Over all threads and processes; in the order of file and line.
std::vector<PythonTimedFunction> CountPythonLines(const Store& store);

}  // namespace batchlight
