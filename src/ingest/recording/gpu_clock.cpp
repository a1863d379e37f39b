#include "ingest/recording/gpu_clock.h"

#include <algorithm>
#include <cstdlib>

namespace batchlight {

void GpuClock::AddPair(int64_t at_ns, int64_t cupti_ns, uint32_t uncertainty_ns) {
  int64_t offset_ns = 0;
  if (__builtin_sub_overflow(at_ns, cupti_ns, &offset_ns)) return;
  pairs_.push_back({cupti_ns, offset_ns});
  error_ns_ = std::max<int64_t>(error_ns_, uncertainty_ns);
}

int64_t GpuClock::Between(const Pair& a, const Pair& b, int64_t cupti_ns) {
  const double span = static_cast<double>(b.cupti_ns) - static_cast<double>(a.cupti_ns);
  if (span <= 0) return a.offset_ns;
  const double part = static_cast<double>(cupti_ns - a.cupti_ns) / span;
  const double change = static_cast<double>(b.offset_ns) - static_cast<double>(a.offset_ns);
  return a.offset_ns + static_cast<int64_t>(part * change);
}

void GpuClock::Finish() {
  std::sort(pairs_.begin(), pairs_.end(),
            [](const Pair& a, const Pair& b) { return a.cupti_ns < b.cupti_ns; });
  for (size_t i = 1; i + 1 < pairs_.size(); ++i) {
    const int64_t expected = Between(pairs_[i - 1], pairs_[i + 1], pairs_[i].cupti_ns);
    error_ns_ = std::max(error_ns_, std::abs(pairs_[i].offset_ns - expected));
  }
}

int64_t GpuClock::ToNs(int64_t cupti_ns, size_t& hint) const {
  int64_t offset_ns = fallback_offset_ns_;
  if (!pairs_.empty()) {
    // Segment `hint` lies between pairs hint and hint + 1. Before the first pair and after the last
    // one, the offset of that pair applies.
    if (hint >= pairs_.size()) hint = 0;
    if (cupti_ns < pairs_[hint].cupti_ns ||
        (hint + 1 < pairs_.size() && cupti_ns >= pairs_[hint + 1].cupti_ns)) {
      const auto after =
          std::upper_bound(pairs_.begin(), pairs_.end(), cupti_ns,
                           [](int64_t time, const Pair& pair) { return time < pair.cupti_ns; });
      hint = after == pairs_.begin() ? 0 : static_cast<size_t>(after - pairs_.begin()) - 1;
    }
    const Pair& pair = pairs_[hint];
    const bool inside = cupti_ns >= pair.cupti_ns && hint + 1 < pairs_.size();
    offset_ns = inside ? Between(pair, pairs_[hint + 1], cupti_ns) : pair.offset_ns;
  }
  int64_t ns = 0;
  return __builtin_add_overflow(cupti_ns, offset_ns, &ns) ? 0 : ns;
}

}  // namespace batchlight
