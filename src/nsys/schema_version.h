// The versions of nsys's schema: which one an export of ours has, and which were read.
#pragma once

namespace batchlight::nsys {

inline constexpr int kSchemaMajor = 3;
inline constexpr int kWrittenMinor = 25;  // with NVTX_EVENTS.eventId of 3.28
inline constexpr int kOldestMinor = 16;
inline constexpr int kNewestMinor = 28;

}  // namespace batchlight::nsys
