// Maps CUPTI's clock to the recording's: pairs of readings of one process, joined by straight
// lines. CUPTI's clock is the realtime clock on Linux, which NTP slews: a single offset would be
// wrong by many microseconds after an hour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace batchlight {

class GpuClock {
 public:
  // Without any pair, `cupti_ns` + `fallback_offset_ns`.
  explicit GpuClock(int64_t fallback_offset_ns) : fallback_offset_ns_(fallback_offset_ns) {}

  void AddPair(int64_t at_ns, int64_t cupti_ns, uint32_t uncertainty_ns);
  // After the last pair.
  void Finish();

  // `hint` remembers the segment of the last time, since times come nearly in order.
  int64_t ToNs(int64_t cupti_ns, size_t& hint) const;

  // The largest error seen: of a pair against the line through its neighbours, or of a reading.
  int64_t error_ns() const { return error_ns_; }
  size_t pair_count() const { return pairs_.size(); }

 private:
  struct Pair {
    int64_t cupti_ns;
    int64_t offset_ns;  // recording's clock - CUPTI's
  };

  static int64_t Between(const Pair& a, const Pair& b, int64_t cupti_ns);

  std::vector<Pair> pairs_;
  int64_t fallback_offset_ns_;
  int64_t error_ns_ = 0;
};

}  // namespace batchlight
