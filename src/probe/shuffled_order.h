// The numbers 0 to count - 1, each once, in an order without a pattern and without memory for it.
#pragma once

#include <bit>
#include <cstdint>

namespace batchlight::probe {

class ShuffledOrder {
 public:
  ShuffledOrder(uint64_t count, uint64_t seed)
      : count_(count),
        bits_(count > 1 ? static_cast<unsigned>(std::bit_width(count - 1)) : 1),
        seed_(seed) {}

  // False: all have been.
  bool Next(uint64_t& number) {
    const uint64_t end = uint64_t{1} << bits_;
    while (place_ < end) {
      number = Mixed(place_++);
      if (number < count_) return true;
    }
    return false;
  }

 private:
  // Steps that can each be undone, on numbers of bits_ bits: no two places give the same number.
  uint64_t Mixed(uint64_t x) const {
    const uint64_t mask = (uint64_t{1} << bits_) - 1;
    const unsigned half = bits_ / 2 + 1;
    for (uint64_t round = 0; round < 3; ++round) {
      x = (x + seed_ + round) & mask;
      x ^= x >> half;
      x = (x * 0x9E3779B97F4A7C15) & mask;
      x ^= x >> half;
    }
    return x & mask;
  }

  uint64_t count_;
  unsigned bits_;
  uint64_t seed_;
  uint64_t place_ = 0;
};

}  // namespace batchlight::probe
