// Numbers as people read them: three significant digits, grouped thousands, a fitting unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace batchlight {

// Shown value = base value / factor.
struct Scale {
  double factor = 1;
  std::string_view unit;
};
Scale TimeScale(double largest_ns);      // ns, µs, ms, s
Scale BytesScale(double largest_bytes);  // B, KiB, ... TiB

std::string FixedText(double value, int decimals);  // "1,284.50"
std::string SignificantText(double value);          // "24.3", "1,284", "0.0412"
std::string TimeText(double ns);                    // "24.3 ms"
std::string BytesText(double bytes);                // "1.50 GiB"
std::string DecimalBytesText(double bytes);         // "38.4 MB", as rates are
// "3.18 GB/s", "870 kB/s": decimal, as vendors and MLPerf give rates.
std::string ByteRateText(double bytes_per_s);
std::string CountText(uint64_t count);     // "1,234,567"
std::string PercentText(double fraction);  // 0.253 -> "25.3 %"
// Of a hardware counter, whose unit is one of analysis/counters/metrics.def.
std::string CounterText(double value, std::string_view unit);
// How many decimals give `largest` that many significant `digits`; for columns and axes.
int DecimalsFor(double largest, int digits);

}  // namespace batchlight
