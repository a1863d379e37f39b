// --cudabacktrace: from where in native code CUDA calls of some length are made.
#pragma once

#include <cstdint>

#include "inject/cupti/abi.h"
#include "inject/cupti/options.h"

namespace batchlight::inject::cupti {

// Once, before the first callback.
void PrepareNativeCallStacks(const Options& options);

// Whether the session wants stacks of this call.
bool WantsNativeStack(const Options& options, uint32_t domain, uint32_t cbid);

// From CUPTI's callback, before and after a call. Driver calls that the runtime makes for one of
// its own have the stack of that one, and get none.
void OnNativeCallStack(const Options& options, uint32_t domain, uint32_t cbid,
                       const CallbackData& data);

}  // namespace batchlight::inject::cupti
