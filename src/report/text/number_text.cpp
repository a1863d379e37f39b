#include "report/text/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>

namespace batchlight {
namespace {

constexpr std::array kTimeScales = {Scale{1e9, "s"}, Scale{1e6, "ms"}, Scale{1e3, "µs"},
                                    Scale{1, "ns"}};
constexpr std::array kByteScales = {Scale{0x1p40, "TiB"}, Scale{0x1p30, "GiB"},
                                    Scale{0x1p20, "MiB"}, Scale{0x1p10, "KiB"}, Scale{1, "B"}};
constexpr std::array kDecimalScales = {Scale{1e12, "TB"}, Scale{1e9, "GB"}, Scale{1e6, "MB"},
                                       Scale{1e3, "kB"}, Scale{1, "B"}};

Scale Pick(std::span<const Scale> scales, double value) {
  for (const Scale& scale : scales) {
    if (std::abs(value) >= scale.factor) return scale;
  }
  return scales.back();
}

// Rounds to three significant digits, so that 999.97 ms picks its unit as 1.00 s.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double power = std::pow(10, std::floor(std::log10(std::abs(value))) - 2);
  return power >= 1 ? std::round(value / power) * power : value;
}

std::string WithUnit(double value, const Scale& scale) {
  std::string text = SignificantText(value / scale.factor);
  text += ' ';
  text += scale.unit;
  return text;
}

}  // namespace

Scale TimeScale(double largest_ns) { return Pick(kTimeScales, largest_ns); }
Scale BytesScale(double largest_bytes) { return Pick(kByteScales, largest_bytes); }

std::string FixedText(double value, int decimals) {
  // A tie rounds away from zero, as it does on the page; printf rounds it to an even digit.
  const double scaled = value * std::pow(10, decimals);
  if (std::abs(scaled) < 1e15 && std::abs(scaled - std::trunc(scaled)) == 0.5) {
    value = std::nextafter(value, std::copysign(std::numeric_limits<double>::infinity(), value));
  }
  std::array<char, 400> digits;
  const int length = std::snprintf(digits.data(), digits.size(), "%.*f", decimals, value);
  std::string text(digits.data(), static_cast<size_t>(length));
  if (!std::isfinite(value)) return text;
  const size_t first = text[0] == '-' ? 1 : 0;
  size_t group = std::min(text.find('.'), text.size());
  while (group > first + 3) {
    group -= 3;
    text.insert(group, ",");
  }
  return text;
}

std::string SignificantText(double value) {
  if (value == 0 || !std::isfinite(value)) return FixedText(value, 0);
  std::array<char, 32> rounded;
  std::snprintf(rounded.data(), rounded.size(), "%.2e", std::abs(value));
  const int digits =
      static_cast<int>(std::floor(std::log10(std::strtod(rounded.data(), nullptr)))) + 1;
  return FixedText(value, std::clamp(3 - digits, 0, 9));
}

std::string TimeText(double ns) { return WithUnit(ns, TimeScale(Rounded(ns))); }
std::string BytesText(double bytes) { return WithUnit(bytes, BytesScale(bytes)); }
std::string DecimalBytesText(double bytes) {
  return WithUnit(bytes, Pick(kDecimalScales, Rounded(bytes)));
}
std::string ByteRateText(double bytes_per_s) { return DecimalBytesText(bytes_per_s) + "/s"; }

std::string CountText(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t group = text.size(); group > 3;) text.insert(group -= 3, ",");
  return text;
}

std::string PercentText(double fraction) { return FixedText(100 * fraction, 1) + " %"; }

int DecimalsFor(double largest, int digits) {
  if (!(largest > 0)) return 0;
  return std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(largest))));
}

std::string CounterText(double value, std::string_view unit) {
  if (unit == "ns") return TimeText(value);
  if (unit == "bytes") return BytesText(value);
  if (unit == "percent") return PercentText(value / 100);
  if (unit == "hz") return SignificantText(value / 1e9) + " GHz";
  return SignificantText(value);
}

}  // namespace batchlight
