// The largest values that an import accepts. A larger one is a fault of the file, and sums over a
// table would not fit into 64 bits.
#pragma once

#include <cstdint>

namespace batchlight {

inline constexpr int64_t kLargestTimeNs = int64_t{1} << 61;      // differences of two still fit
inline constexpr int64_t kLongestEventNs = int64_t{1} << 53;     // 104 days
inline constexpr int64_t kLargestByteCount = int64_t{1} << 53;   // 9 PB in one copy
inline constexpr int64_t kLargestTotalNs = int64_t{1} << 60;     // of a table: several still add up
inline constexpr int64_t kLargestTotalBytes = int64_t{1} << 62;  // of a table

inline bool IsPossibleTime(int64_t ns) { return ns >= -kLargestTimeNs && ns <= kLargestTimeNs; }
inline int64_t PossibleTimeOr(int64_t ns, int64_t otherwise) {
  return IsPossibleTime(ns) ? ns : otherwise;
}

// A sum that refuses a value that would take it past its limit.
class LimitedSum {
 public:
  constexpr LimitedSum(int64_t largest_value, int64_t largest_sum)
      : largest_value_(largest_value), largest_sum_(largest_sum) {}

  // False: negative, too large by itself, or too large for the sum.
  bool Add(int64_t value) {
    if (value < 0 || value > largest_value_ || value > largest_sum_ - sum_) return false;
    sum_ += value;
    return true;
  }

 private:
  int64_t largest_value_;
  int64_t largest_sum_;
  int64_t sum_ = 0;
};

inline LimitedSum SumOfDurations() { return {kLongestEventNs, kLargestTotalNs}; }
inline LimitedSum SumOfBytes() { return {kLargestByteCount, kLargestTotalBytes}; }

}  // namespace batchlight
