// Which stream or event a waiting call waited for. CUPTI's own records of waits make it wrap every
// call of both APIs (docs/design/0011-cupti.md), so callbacks are set on the waiting calls alone,
// and each writes a GpuWait from the call's parameters.
#pragma once

#include <cstdint>

#include "inject/cupti/abi.h"
#include "inject/cupti/library.h"
#include "inject/cupti/options.h"

namespace batchlight::inject::cupti {

// Whether waits are recorded this way: if calls and streams are, and CUPTI's own records of waits
// are not.
bool ReadsWaits(const Options& options);

void EnableWaitCallbacks(const Library& library, void* subscriber, const Options& options);

// From CUPTI's callback, before and after the call. False: not a waiting call.
bool OnWaitCall(const Library& library, const Options& options, uint32_t domain, uint32_t cbid,
                const CallbackData& data);

}  // namespace batchlight::inject::cupti
