// API calls by callback, for captures that begin after the program's first context: CUPTI makes
// records of single calls only if they were asked for before it, and of all calls at twice the cost
// (docs/design/0011-cupti.md).
#pragma once

#include <cstdint>

#include "inject/cupti/abi.h"

namespace batchlight::inject::cupti {

// The callback of a runtime or driver call, at its entry and exit, on the thread that calls. Writes
// a CudaCall at the exit; a driver call inside a runtime call is part of that.
void OnCall(uint32_t domain, uint32_t cbid, const CallbackData& data);

}  // namespace batchlight::inject::cupti
