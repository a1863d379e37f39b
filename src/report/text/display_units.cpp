#include "report/text/display_units.h"

#include <array>
#include <charconv>
#include <cmath>

namespace batchlight {
namespace {

// The factor for a stored number (ns, bytes). Only a product, not a quotient, rounds ties as nsys
// does (4795.5 ns are 4.796 us).
struct SpelledScale {
  std::string_view name;     // in specifications
  std::string_view heading;  // in headings
  double factor;
  int decimals;
};
constexpr SpelledScale kTimes[] = {
    {"ns", "ns", 1, 0}, {"us", "us", 1e-3, 3}, {"ms", "ms", 1e-6, 4}, {"sec", "sec", 1e-9, 4}};
constexpr SpelledScale kBytes[] = {{"B", "B", 1, 0},
                                   {"KB", "KB", 1e-3, 2},
                                   {"KiB", "KiB", 1.0 / 1024, 2},
                                   {"MB", "MB", 1e-6, 3},
                                   {"MiB", "MiB", 1.0 / (1 << 20), 3},
                                   {"GB", "GB", 1e-9, 3},
                                   {"GiB", "GiB", 1.0 / (1 << 30), 3}};

void AppendInteger(int64_t value, std::string& text) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end.ptr);
}

void AppendReal(double value, int decimals, std::string& text) {
  // Nearly all numbers are whole tenths, which need no general conversion.
  const double tenths = value * 10;
  if (decimals == 1 && tenths > -1e15 && tenths < 1e15 &&
      std::abs(tenths - std::nearbyint(tenths)) < 1e-7) {
    auto whole = static_cast<int64_t>(std::nearbyint(tenths));
    if (std::signbit(value)) text += '-';
    whole = whole < 0 ? -whole : whole;
    AppendInteger(whole / 10, text);
    text += '.';
    text += static_cast<char>('0' + whole % 10);
    return;
  }
  std::array<char, 352> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, decimals);
  text.append(digits.data(), end.ptr);
}

double Number(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return static_cast<double>(*integer);
  return std::get<double>(cell);
}

template <typename UnitType, size_t kCount>
bool ReadUnit(std::string_view text, const SpelledScale (&scales)[kCount],
              std::initializer_list<UnitType*> units) {
  for (size_t i = 0; i < kCount; ++i) {
    if (scales[i].name != text) continue;
    for (UnitType* unit : units) *unit = static_cast<UnitType>(i);
    return true;
  }
  return false;
}

// Null for numbers whose unit cannot be chosen.
const SpelledScale* ScaleOf(Unit unit, const DisplayUnits& units) {
  switch (unit) {
    case Unit::kTimeNs:
      return &kTimes[static_cast<size_t>(units.duration)];
    case Unit::kTimestampNs:
      return &kTimes[static_cast<size_t>(units.timestamp)];
    case Unit::kBytes:
      return &kBytes[static_cast<size_t>(units.size)];
    case Unit::kRate:
      return &kBytes[static_cast<size_t>(units.rate)];
    default:
      return nullptr;
  }
}

}  // namespace

bool ApplyUnit(std::string_view arg, DisplayUnits& units) {
  if (arg == "noconv") {
    units.SetTime(TimeUnit::kNanoseconds);
    units.size = units.rate = ByteUnit::kB;
    return true;
  }
  if (arg == "nohdrunit") {
    units.in_heading = false;
    return true;
  }
  const size_t equals = arg.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view key = arg.substr(0, equals);
  const std::string_view unit = arg.substr(equals + 1);
  if (key == "time") return ReadUnit(unit, kTimes, {&units.timestamp, &units.duration});
  if (key == "ts") return ReadUnit(unit, kTimes, {&units.timestamp});
  if (key == "dur") return ReadUnit(unit, kTimes, {&units.duration});
  if (key == "bytes") return ReadUnit(unit, kBytes, {&units.size, &units.rate});
  if (key == "mem") return ReadUnit(unit, kBytes, {&units.size});
  if (key == "thru") return ReadUnit(unit, kBytes, {&units.rate});
  // Unit options of nsys that have only one value here: addresses are hexadecimal, and no report
  // shows global ids.
  if (key == "ratio") return unit == "%";
  if (key == "addr") return unit == "hex";
  if (key == "gid") {
    return unit == "gidint" || unit == "gidhex" || unit == "gidsubint" || unit == "gidsubhex";
  }
  return false;
}

Result<TimeUnit> ParseTimeUnit(std::string_view text) {
  struct Spelling {
    std::string_view name;
    TimeUnit unit;
  };
  constexpr Spelling kSpellings[] = {{"nanoseconds", TimeUnit::kNanoseconds},
                                     {"nsec", TimeUnit::kNanoseconds},
                                     {"ns", TimeUnit::kNanoseconds},
                                     {"microseconds", TimeUnit::kMicroseconds},
                                     {"usec", TimeUnit::kMicroseconds},
                                     {"us", TimeUnit::kMicroseconds},
                                     {"milliseconds", TimeUnit::kMilliseconds},
                                     {"msec", TimeUnit::kMilliseconds},
                                     {"ms", TimeUnit::kMilliseconds},
                                     {"seconds", TimeUnit::kSeconds},
                                     {"sec", TimeUnit::kSeconds}};
  // nsys takes any prefix that fits only one unit.
  if (text == "m") return UsageError("time unit \"m\" may be milliseconds or microseconds");
  for (const Spelling& spelling : kSpellings) {
    if (!text.empty() && spelling.name.starts_with(text)) return spelling.unit;
  }
  return UsageError("no time unit \"" + std::string(text) +
                    "\": use nanoseconds, microseconds, milliseconds or seconds");
}

std::string ColumnHeading(const ResultColumn& column, const DisplayUnits& units) {
  if (!units.in_heading) return column.name;
  if (column.unit == Unit::kPercent) return column.name + " (%)";
  const SpelledScale* scale = ScaleOf(column.unit, units);
  if (scale == nullptr) return column.name;
  // Names for SQL have the unit in them.
  if (column.name.ends_with("_" + std::string(scale->heading))) return column.name;
  return column.name + " (" + std::string(scale->heading) +
         (column.unit == Unit::kRate ? "/s)" : ")");
}

void AppendCellText(const ResultColumn& column, const Cell& cell, const DisplayUnits& units,
                    std::string& text) {
  if (const auto* string = std::get_if<std::string>(&cell)) {
    text += *string;
    return;
  }
  if (std::holds_alternative<std::monostate>(cell)) return;
  const SpelledScale* scale = ScaleOf(column.unit, units);
  if (scale != nullptr && scale->factor != 1) {
    AppendReal(Number(cell) * scale->factor, scale->decimals, text);
  } else if (const auto* integer = std::get_if<int64_t>(&cell)) {
    AppendInteger(*integer, text);
  } else {
    AppendReal(std::get<double>(cell), scale != nullptr ? 1 : column.decimals, text);
  }
}

std::string CellText(const ResultColumn& column, const Cell& cell, const DisplayUnits& units) {
  std::string text;
  AppendCellText(column, cell, units, text);
  return text;
}

}  // namespace batchlight
