#include "base/duration_text.h"

#include <charconv>
#include <cmath>
#include <string>

namespace batchlight {
namespace {

struct DurationUnit {
  std::string_view name;
  double ns;
};
// Longer names first: "ms" is not "m" followed by "s".
constexpr int64_t kMaxDurationNs = 4'000'000'000'000'000'000;

constexpr DurationUnit kUnits[] = {{"ns", 1},  {"us", 1e3}, {"ms", 1e6},
                                   {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};

Status BadDuration(std::string_view text) {
  return UsageError("\"" + std::string(text) +
                    "\" is not a time: use numbers with ns, us, ms, s, m or h, as in 1s500ms");
}

}  // namespace

Result<int64_t> ParseDuration(std::string_view text) {
  if (text.empty()) return BadDuration(text);
  // Nanoseconds since 1970 need more digits than a double has.
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size() && whole >= -kMaxDurationNs &&
      whole <= kMaxDurationNs) {
    return whole;
  }
  double ns = 0;
  for (std::string_view rest = text; !rest.empty();) {
    double number = 0;
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (parsed.ec != std::errc() || !std::isfinite(number)) return BadDuration(text);
    rest.remove_prefix(static_cast<size_t>(parsed.ptr - rest.data()));
    double scale = rest.empty() ? 1 : 0;
    for (const DurationUnit& unit : kUnits) {
      if (scale == 0 && rest.starts_with(unit.name)) {
        scale = unit.ns;
        rest.remove_prefix(unit.name.size());
      }
    }
    if (scale == 0) return BadDuration(text);
    ns += number * scale;
  }
  if (std::abs(ns) > static_cast<double>(kMaxDurationNs)) return BadDuration(text);
  return static_cast<int64_t>(std::llround(ns));
}

}  // namespace batchlight
