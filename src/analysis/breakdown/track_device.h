// How a track of events is told from the others of its process: the CPU's is -1, a GPU's its
// ordinal. A trace may number a GPU -1 too: that one is the largest number.
#pragma once

#include <cstdint>

namespace batchlight {

inline constexpr int32_t kCpuTrack = -1;

inline int32_t TrackDevice(uint32_t device) { return static_cast<int32_t>(device & INT32_MAX); }

}  // namespace batchlight
