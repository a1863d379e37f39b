// Exponentially distributed numbers without the mathematical library.
#pragma once

#include <bit>
#include <cstdint>

namespace batchlight::inject::memory {

// Xorshift64 (Marsaglia, 2003). `state`: not 0.
inline uint64_t NextRandom(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

// ln(x) for normal x > 0, to 1e-7: the exponent's, and 2 artanh((m - 1) / (m + 1)) of the rest.
inline double Logarithm(double x) {
  constexpr double kLn2 = 0.6931471805599453, kSqrt2 = 1.4142135623730951;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  double exponent = static_cast<double>(static_cast<int64_t>(bits >> 52 & 0x7ff) - 1023);
  double m = std::bit_cast<double>((bits & ~(uint64_t{0x7ff} << 52)) | uint64_t{1023} << 52);
  if (m > kSqrt2) {
    m /= 2;
    exponent += 1;
  }
  const double z = (m - 1) / (m + 1), square = z * z;
  return exponent * kLn2 +
         2 * z * (1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square / 9))));
}

// With that mean.
inline double Exponential(uint64_t& state, double mean) {
  const auto in_unit = static_cast<double>((NextRandom(state) >> 11) + 1) * 0x1p-53;  // (0, 1]
  return -Logarithm(in_unit) * mean;
}

}  // namespace batchlight::inject::memory
