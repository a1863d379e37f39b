// Calls of a function of Python's that this library hears of first, with no frame of Python's for
// it: PEP 590's pointer in the function object. To all who look at the function it stays what it
// is: torch.compile and pickle see its bytecode. That also runs where the interpreter's loop calls
// the function without the pointer (Python 3.11, calls from Python's code), so it must do the same.
#pragma once

#include "inject/python/cpython.h"

namespace batchlight::inject {

// `count`: of arguments that have no name, and perhaps kRoomInFront. `names`: a tuple of the names
// of those that follow, or nullptr.
using VectorCall = PyObject* (*)(PyObject* callable, PyObject* const* arguments, size_t count,
                                 PyObject* names);
inline constexpr size_t kRoomInFront = size_t{1} << (8 * sizeof(size_t) - 1);

// What a call of the function runs; nullptr: this Python does not say.
VectorCall CallsOf(PyObject* function);

// From now on it runs `ours`. False: this Python has no way to do that, and nothing was changed.
bool TakeCalls(PyObject* function, VectorCall ours);

}  // namespace batchlight::inject
