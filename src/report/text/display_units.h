// The units that tables show numbers in, and what a number looks like in them.
#pragma once

#include <string>
#include <string_view>

#include "analysis/result/result_table.h"
#include "base/status.h"

namespace batchlight {

enum class TimeUnit { kNanoseconds, kMicroseconds, kMilliseconds, kSeconds };
enum class ByteUnit { kB, kKB, kKiB, kMB, kMiB, kGB, kGiB };

// Files have base units, ns and bytes, if nobody asks for others.
struct DisplayUnits {
  TimeUnit timestamp = TimeUnit::kNanoseconds;
  TimeUnit duration = TimeUnit::kNanoseconds;
  ByteUnit size = ByteUnit::kB;
  ByteUnit rate = ByteUnit::kMB;  // per second
  bool in_heading = true;         // nohdrunit: "Duration" in place of "Duration (ns)"

  void SetTime(TimeUnit unit) { timestamp = duration = unit; }
};

// Those of nsys's reports: ns, and MB of 10^6 bytes.
inline constexpr DisplayUnits kReportUnits{.size = ByteUnit::kMB};

// One "category=unit" of a format: ts, dur, time, mem, thru, bytes with the units of each. False:
// not a unit specification. noconv selects the units that times and sizes are stored in.
bool ApplyUnit(std::string_view arg, DisplayUnits& units);

// "nanoseconds", "nsec", "ms", ...: any prefix that nsys takes. Errors (kUsage).
Result<TimeUnit> ParseTimeUnit(std::string_view text);

// The header of a column, with its unit: "Total Time (ns)".
std::string ColumnHeading(const ResultColumn& column, const DisplayUnits& units);
// A cell as files show it, without grouping: "1541234775", "25.166", "".
std::string CellText(const ResultColumn& column, const Cell& cell, const DisplayUnits& units);
void AppendCellText(const ResultColumn& column, const Cell& cell, const DisplayUnits& units,
                    std::string& text);

}  // namespace batchlight
