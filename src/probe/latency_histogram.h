// How long the operations of a worker took, in a fixed size that lies in memory shared between
// processes: 64 buckets for each power of two, so that a quantile is off by 1.6 % at most.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace batchlight::probe {

class LatencyHistogram {
 public:
  void Add(uint64_t ns) {
    ++counts_[BucketOf(ns)];
    ++count_;
  }

  void AddAll(const LatencyHistogram& other) {
    for (size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
  }

  uint64_t count() const { return count_; }

  // The least value with at least a share of `q` at or below it; 0 without values.
  double Quantile(double q) const {
    const double wanted = q * static_cast<double>(count_);
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets; ++i) {
      seen += counts_[i];
      if (counts_[i] > 0 && static_cast<double>(seen) >= wanted) return MiddleOf(i);
    }
    return 0;
  }

 private:
  static constexpr unsigned kBits = 6;
  static constexpr size_t kWidth = size_t{1} << kBits;
  static constexpr size_t kBuckets = (48 - kBits) * kWidth;  // up to 2^47 ns, more than a day

  // Values below 2 * kWidth have a bucket each; above, the leading kBits + 1 bits choose it.
  static size_t BucketOf(uint64_t ns) {
    if (ns < 2 * kWidth) return ns;
    const unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - kBits - 1;
    const size_t bucket = shift * kWidth + (ns >> shift);
    return bucket < kBuckets ? bucket : kBuckets - 1;
  }
  static double MiddleOf(size_t bucket) {
    if (bucket < 2 * kWidth) return static_cast<double>(bucket);
    const size_t shift = bucket / kWidth - 1;
    const auto low = static_cast<double>((bucket - shift * kWidth) << shift);
    return low + static_cast<double>((uint64_t{1} << shift) - 1) / 2;
  }

  std::array<uint32_t, kBuckets> counts_ = {};
  uint64_t count_ = 0;
};

}  // namespace batchlight::probe
