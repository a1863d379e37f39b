// How many latencies are how long, in steps of at most a sixteenth of their length: small enough to
// keep per bin of steps, fine enough for percentiles of any of them added up.
//
// Bucket b < 32 holds b ns exactly. Above, every power of two is cut into 16: bucket b holds m 2^e
// to (m + 1) 2^e - 1 ns with e = b / 16 - 1, m = 16 + b % 16.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace batchlight {

class LatencyCounts {
 public:
  static constexpr double kResolution = 1.0 / 16;  // the width of a bucket / its start, at most

  static size_t BucketOf(int64_t ns) {
    const auto value = static_cast<uint64_t>(ns < 0 ? 0 : ns);
    if (value < 32) return value;
    const auto exponent = static_cast<size_t>(std::bit_width(value)) - 5;
    return exponent * 16 + (value >> exponent);
  }

  static int64_t StartOf(size_t bucket) {
    if (bucket < 32) return static_cast<int64_t>(bucket);
    return static_cast<int64_t>(16 + bucket % 16) << (bucket / 16 - 1);
  }

  void Add(int64_t ns) {
    const size_t bucket = BucketOf(ns);
    if (bucket >= counts_.size()) counts_.resize(bucket + 1);
    ++counts_[bucket];
  }
  const std::vector<uint32_t>& counts() const { return counts_; }  // by bucket

 private:
  std::vector<uint32_t> counts_;
};

}  // namespace batchlight
