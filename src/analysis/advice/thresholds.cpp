#include "analysis/advice/thresholds.h"

#include <cstdio>

namespace batchlight::advice {
namespace {

// What a value is a number of; named in thresholds.def.
enum class Unit { Share, Part, Times, OneIn, Count, Ns, Bytes, BytesPerNs };

struct Threshold {
  std::string_view name;
  double value;
  Unit unit;
};

constexpr Threshold kThresholds[] = {
#define THRESHOLD(name, value, unit, meaning) {#name, value, Unit::unit},
#include "analysis/advice/thresholds.def"
#undef THRESHOLD
};

std::string Number(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, "%g%s", value, unit);
  return text;
}

// As tools/gen_docs.py writes them.
std::string TextOf(const Threshold& threshold) {
  const double value = threshold.value;
  switch (threshold.unit) {
    case Unit::Part:
      if (value == 0.5) return "half";
      [[fallthrough]];
    case Unit::Share:
      return Number(value * 100, " %");
    case Unit::Times:
      return value == 2 ? "twice" : Number(value, " times");
    case Unit::OneIn:
      return value == 3 ? "a third" : "1/" + Number(value, "");
    case Unit::Count:
      return Number(value, "");
    case Unit::Ns:
      return value >= 1e9 ? Number(value / 1e9, " s") : Number(value / 1000, " us");
    case Unit::Bytes:
      return Number(value / 1024, " KiB");
    case Unit::BytesPerNs:
      return Number(value, " GB/s");
  }
  return "";
}

std::string TextOf(std::string_view name) {
  for (const Threshold& threshold : kThresholds) {
    if (threshold.name == name) return TextOf(threshold);
  }
  return "{" + std::string(name) + "}";
}

}  // namespace

std::string FillThresholds(std::string_view text) {
  std::string filled;
  while (true) {
    const size_t open = text.find('{');
    const size_t close = text.find('}', open == text.npos ? 0 : open);
    if (open == text.npos || close == text.npos) return filled.append(text);
    filled.append(text.substr(0, open)).append(TextOf(text.substr(open + 1, close - open - 1)));
    text.remove_prefix(close + 1);
  }
}

}  // namespace batchlight::advice
