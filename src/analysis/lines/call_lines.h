// Where in Python CUDA calls were made.
#pragma once

#include <vector>

#include "store/store.h"

namespace batchlight {

// By row of store.api_calls: the call's own Python stack, or that of the operator in which it was
// made. None: not recorded, or made by a thread of the backward pass.
std::vector<PythonStackId> PythonStacksOfCalls(const Store& store);

}  // namespace batchlight
