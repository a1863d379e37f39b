// --nvtx-capture: a range that switches collection on and off.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/nvtx/event.h"

namespace batchlight::inject::nvtx {

// True if the session waits for such a range: the only thing events look at when it does not.
extern bool g_capture_by_range;
void ReadCaptureRange();

// If the event is the range asked for and no capture is under way, starts one; `depth` or
// `range_id` tell which end ends it (the other is 0 or -1).
void StartCaptureAt(const Event& event, int depth, uint64_t range_id);
// To call after the range's end has been recorded.
void StopCaptureAtPop(const Domain* domain, int depth);
void StopCaptureAtEnd(uint64_t range_id);

}  // namespace batchlight::inject::nvtx
