// Where a CUDA call is made: in Python, for calls that no operator of PyTorch tells about (what
// Triton and custom extensions launch), and in native code.
#pragma once

#include <cstdint>

#include "inject/cupti/abi.h"
#include "inject/cupti/library.h"
#include "inject/cupti/options.h"

namespace batchlight::inject::cupti {

// Sets callbacks on the calls that the session wants stacks of. Python stacks: of none; of launches
// through the driver's API (--python-lines), of which PyTorch's own kernels make few; or of all
// calls that are recorded (--python-backtrace). Native ones: of the kinds of --cudabacktrace.
void EnableCallStackCallbacks(const Library& library, const Options& options, void* subscriber);
bool WantsCallStack(const Options& options, uint32_t domain, uint32_t cbid);

// From CUPTI's callback, before and after a call of either API.
void OnCallStack(const Options& options, uint32_t domain, uint32_t cbid, const CallbackData& data);

}  // namespace batchlight::inject::cupti
