// CUPTI's clock beside ours. CUPTI gives GPU and call times on one clock of its own (the realtime
// clock, on Linux); pairs of readings, taken every second, let the reader put both on one axis
// whatever the drift.
#pragma once

#include <cstdint>

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

// Writes a GpuClock record for this instant into the calling thread's stream.
void WriteClockPair(const Library& library);

}  // namespace batchlight::inject::cupti
