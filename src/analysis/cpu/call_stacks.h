// Calls of CUDA and of the C library added up by the native stack that they were made from
// (--cudabacktrace, -t osrt).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "store/store.h"

namespace batchlight {

// Calls of one function by a thread from one place.
struct CallsOfStack {
  ThreadId thread;
  StringId call;
  NativeStackId stack;
  PythonStackId python_stack;  // where in Python; None = not known
  uint64_t calls = 0;
  int64_t total_ns = 0;
  int64_t longest_ns = 0;
};

// By thread, stack and call; calls without a stack are left out. `python_stacks`: by row of
// store.api_calls, or of store.os_calls.
std::vector<CallsOfStack> SumCudaCallsByStack(const Store& store,
                                              const std::vector<PythonStackId>& python_stacks);
std::vector<CallsOfStack> SumOsCallsByStack(const Store& store,
                                            const std::vector<PythonStackId>& python_stacks);

// Whether a frame is the interpreter's, running Python code.
bool RunsPython(const Store& store, NativeFrameId frame);

// The same calls by who made them: the innermost functions that are not the libraries' that were
// called (CUDA's runtime and driver, the C library).
struct CallsOfCaller {
  StringId call;
  std::vector<NativeFrameId> callers;  // innermost first, at most three
  PythonFrameId python_frame;          // the line of Python that calls them; None = not known
  uint64_t calls = 0;
  int64_t total_ns = 0;
  int64_t longest_ns = 0;
};

// Of CUDA and of the C library, by total time, longest first. `cuda`, `os`: where in Python, by
// row. `line_of`: the line that a Python stack stands for.
std::vector<CallsOfCaller> SumCallsByCaller(
    const Store& store, const std::vector<PythonStackId>& cuda,
    const std::vector<PythonStackId>& os,
    const std::function<PythonFrameId(PythonStackId)>& line_of);

}  // namespace batchlight
