// Turns the ticks of one chunk into nanoseconds of the recording's clock.
#pragma once

#include <cstdint>

#include "format/layout.h"

namespace batchlight {

class ChunkClock {
 public:
  ChunkClock() = default;

  // `zero_ns`: CLOCK_MONOTONIC of time 0. Times are clamped to [floor_ns, ceiling_ns] (already on
  // the recording's clock), so that a thread's time never runs backwards from chunk to chunk,
  // however wrong an estimate is.
  ChunkClock(const format::ChunkHeader& header, int64_t zero_ns, int64_t floor_ns,
             int64_t ceiling_ns);

  int64_t ToNs(uint64_t ticks) const {
    const auto scaled = static_cast<unsigned __int128>(ticks) * ns_per_tick_;
    const int64_t ns = base_ns_ + static_cast<int64_t>(scaled >> kFractionBits);
    return ns < floor_ns_ ? floor_ns_ : ns > ceiling_ns_ ? ceiling_ns_ : ns;
  }

  // Length of so many ticks, which the chunk need not hold.
  int64_t LengthNs(uint64_t ticks) const {
    const auto scaled = static_cast<unsigned __int128>(ticks) * ns_per_tick_ >> kFractionBits;
    return scaled > INT64_MAX ? INT64_MAX : static_cast<int64_t>(scaled);
  }

  int64_t floor_ns() const { return floor_ns_; }
  int64_t ceiling_ns() const { return ceiling_ns_; }

 private:
  static constexpr int kFractionBits = 44;

  int64_t base_ns_ = 0;
  int64_t floor_ns_ = 0;
  int64_t ceiling_ns_ = 0;
  uint64_t ns_per_tick_ = 0;  // fixed point
};

// End of the chunk on CLOCK_MONOTONIC, from its second pair; `otherwise` while it is open.
int64_t ChunkEndNs(const format::ChunkHeader& header, int64_t otherwise);

}  // namespace batchlight
