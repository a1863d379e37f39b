// --nvtx-capture: a range that switches collection on and off.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/nvtx/event.h"

namespace batchlight::inject::nvtx {

// True if the session waits for such a range. If it does not, events look at nothing else.
extern bool g_capture_by_range;
void ReadCaptureRange();

// Begins a capture if the event is the range asked for and none is under way. `depth` or `range_id`
// identifies the end that ends it; the other one is -1 or 0.
void StartCaptureAt(const Event& event, int depth, uint64_t range_id);
// To call after the range's end has been recorded.
void StopCaptureAtPop(const Domain* domain, int depth);
void StopCaptureAtEnd(uint64_t range_id);

}  // namespace batchlight::inject::nvtx
