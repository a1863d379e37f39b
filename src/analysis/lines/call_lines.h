// Where in Python calls of CUDA and of the C library were made.
#pragma once

#include <vector>

#include "store/store.h"

namespace batchlight {

// By row of store.api_calls: the call's own Python stack, or that of the operator in which it was
// made. None: not recorded, or made by a thread of the backward pass.
std::vector<PythonStackId> PythonStacksOfCalls(const Store& store);

// Long calls that nothing is recorded of have the stack that a look from outside found while they
// lasted (store.python_samples): in a call, a thread stays where it is in Python.
// PythonStacksOfCalls with these, and by row of store.os_calls these alone.
std::vector<PythonStackId> PythonStacksOfCallsAndLooks(const Store& store);
std::vector<PythonStackId> PythonStacksOfOsCalls(const Store& store);

}  // namespace batchlight
