// Exact counts of Python calls and lines: what an event of the interpreter does to the thread's
// call table. All functions are for the thread itself with the GIL held, but for CountOpenCalls()
// and ReleaseCalls(), and none raises.
#pragma once

#include <cstdint>

#include "inject/python/cpython.h"

namespace batchlight::inject {

using LinesOf = uint32_t(PyObject* code);
using BuiltinName = PyObject*(PyObject* callable);

struct CallOptions {
  bool calls = false;       // --python-trace=functions
  uint32_t thin_calls = 0;  // a function is thinned after so many calls below 1 us; 0 = never
  // Of a code object that a thread meets for the first time: how many lines to time from its first
  // one on. nullptr = none.
  LinesOf* lines_of = nullptr;
  // Of a function of C that a thread meets for the first time: a new reference to its name, nullptr
  // if it is not to be counted. nullptr = none is.
  BuiltinName* builtin_name = nullptr;
};
// Calls that are open are forgotten, and functions are chosen anew.
void SetCallOptions(const CallOptions& options);

// A function was entered: called, or (`resumed`) a generator went on. True: this place need not be
// watched any more.
bool EnterCall(PyObject* code, bool resumed);
// Before Python 3.12 only the frame tells the two apart: by the last instruction that it ran.
// `last_instruction` is asked for generators only.
void EnterFrame(PyObject* code, PyObject* frame, int (*last_instruction)(PyObject* frame));
// It returned, yielded or raised. True as above.
bool LeaveCall(const void* code);
// A function of C is called, which `method` tells apart from others, and returned.
void EnterBuiltin(const void* method, PyObject* callable);
void LeaveBuiltin(const void* method);
// Whether a trace function wants lines of it: they are timed, or its frames may be suspended, where
// nobody could find them for a trace function of the program's.
bool WantsLines(PyObject* code);
// A line of a function that is timed begins. True as above.
bool BeginLine(PyObject* code, uint32_t line);
// No event will come of the calls that are open on this thread: another tool took the hook.
void LoseCalls();

// Adds the time of open calls to their totals. At the end of the process.
void CountOpenCalls();
// The thread ends.
void ReleaseCalls();

}  // namespace batchlight::inject
