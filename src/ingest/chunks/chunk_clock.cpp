#include "ingest/chunks/chunk_clock.h"

#include <algorithm>

namespace batchlight {
namespace {

// Limits on header values, so that arithmetic on damaged ones cannot overflow: 2^60 ns = 36 years.
constexpr int64_t kMaxNs = int64_t{1} << 60;
constexpr uint64_t kMaxChunkNs = uint64_t{1} << 53;  // 104 days
constexpr uint64_t kMaxTicksPerNs = 1000;
constexpr uint64_t kMaxNsPerTick = 1000;

bool HasEndPair(const format::ChunkHeader& header) {
  return header.end_ticks > header.base_ticks &&
         header.end_monotonic_ns > header.base_monotonic_ns && header.base_monotonic_ns >= 0;
}

}  // namespace

int64_t ChunkEndNs(const format::ChunkHeader& header, int64_t otherwise) {
  return HasEndPair(header) ? header.end_monotonic_ns : otherwise;
}

ChunkClock::ChunkClock(const format::ChunkHeader& header, int64_t zero_ns, int64_t floor_ns,
                       int64_t ceiling_ns)
    : base_ns_(std::clamp(header.base_monotonic_ns, -kMaxNs, kMaxNs) -
               std::clamp(zero_ns, -kMaxNs, kMaxNs)),
      floor_ns_(floor_ns),
      ceiling_ns_(std::max(floor_ns, ceiling_ns)) {
  uint64_t ticks = header.ticks_per_second;
  uint64_t ns = 1000000000;
  if (header.clock_kind == static_cast<uint32_t>(format::ClockKind::kMonotonic)) {
    ticks = ns;
  } else if (HasEndPair(header)) {
    ticks = header.end_ticks - header.base_ticks;
    ns = std::min(static_cast<uint64_t>(header.end_monotonic_ns - header.base_monotonic_ns),
                  kMaxChunkNs);
  }
  ticks = std::clamp(ticks, ns / kMaxNsPerTick + 1, ns * kMaxTicksPerNs);
  ns_per_tick_ =
      static_cast<uint64_t>((static_cast<unsigned __int128>(ns) << kFractionBits) / ticks);
}

}  // namespace batchlight
