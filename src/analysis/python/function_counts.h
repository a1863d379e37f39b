// Exact counts of Python's functions over all threads and processes (profile --python-trace).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/store.h"

namespace batchlight {

struct PythonCallCounts {
  uint64_t calls = 0;            // each resumption of a generator or coroutine is one
  uint64_t primitive_calls = 0;  // without recursion
  int64_t self_ns = 0;
  int64_t total_ns = 0;  // of recursion, the outermost call's

  void Add(const PythonCallCounts& more);
};

// Of a function's calls, those that one caller made.
struct PythonCallerShare {
  uint32_t caller = 0;  // row of the functions
  PythonCallCounts counts;
};

struct PythonFunctionCounts {
  StringId file;
  StringId name;  // qualified
  uint32_t first_line = 0;
  bool thinned = false;  // there were more calls than were counted
  uint64_t resumptions = 0;
  PythonCallCounts counts;
  std::vector<PythonCallerShare> callers;  // by row
};

// By falling time of their own. `by_bare_name`: functions of one line and bare name are one, as in
// cProfile.
std::vector<PythonFunctionCounts> CountPythonFunctions(const Store& store,
                                                       bool by_bare_name = false);

// What stands for the file of a function of C.
inline constexpr std::string_view kBuiltinFile = "~";
// The last part of a qualified name: what Python calls co_name. A function of C has one name.
std::string_view BareName(std::string_view file, std::string_view qualified);
// As pstats prints a function: train.py:12(main), or {name} for one of C.
std::string PythonLabel(std::string_view file, uint32_t first_line, std::string_view name);

}  // namespace batchlight
