// Where in Python a CUDA call is made, for calls that no operator of PyTorch tells about: what
// Triton and custom extensions launch.
#pragma once

#include <cstdint>

#include "inject/cupti/abi.h"
#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

// Sets callbacks on the calls that the session wants stacks of: none; launches through the driver's
// API (--python-lines), of which PyTorch's own kernels make few; or all calls that are recorded
// (--python-backtrace).
void EnableCallStackCallbacks(const Library& library, void* subscriber);

// From CUPTI's callback, before and after a call of either API.
void OnCallStack(const CallbackData& data);

}  // namespace batchlight::inject::cupti
