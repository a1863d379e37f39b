// The reports of `batchlight stats`: named as nsys names them, with its columns, order and
// rounding. One table in registry.cpp lists them all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/result/row_source.h"
#include "base/status.h"
#include "store/store.h"

namespace batchlight::stats {

// Keeps every event that overlaps it, with the event's full duration.
struct TimeWindow {
  int64_t start_ns = INT64_MIN;
  int64_t end_ns = INT64_MAX;
  bool Overlaps(int64_t start, int64_t end) const { return start <= end_ns && end >= start_ns; }
  bool all() const { return start_ns == INT64_MIN && end_ns == INT64_MAX; }
};

struct Query {
  const Store& store;  // outlives the result
  TimeWindow window;
  std::vector<std::string> args;     // what follows the report's name: "base", "rows=20"
  bool nsys_compat = false;          // nsys's bytes also where nsys is wrong (docs/stats.md)
  std::vector<bool> processes = {};  // by row: those a recipe is about (rank_parts.h); empty: all

  bool Keep(int64_t start, int64_t end) const { return window.Overlaps(start, end); }
  bool Has(std::string_view flag) const;  // a bare argument
  bool Of(ProcessId process) const {
    return processes.empty() || (!process.IsNone() && processes[process.row()]);
  }
};

struct Report {
  std::string_view name;
  std::string_view old_names;  // before nsys 2023, separated by spaces
  std::string_view title;
  std::string_view usage;  // "[:nvtx-name][:base|:mangled]"
  std::string_view help;   // what the report says, for --help-reports
  // What the recording lacks for this report ("CUDA kernel data"), "" if nothing.
  std::string_view (*missing)(const Store& store);
  // Errors (kUsage): an argument names a kernel or range that is not there.
  Result<RowSource> (*run)(const Query& query);
  // A recipe of nsys: takes several inputs, one per rank.
  bool several_inputs = false;
};

// What a recording without NVTX ranges lacks.
inline constexpr std::string_view kNoNvtx = "NV Tools Extension (NVTX) data";

// Whether the input is a file of nsys that has the tables without rows as well. A report without
// data is then not skipped: it has no rows, or one row of totals.
bool HasAllTables(const Store& store);

std::span<const Report> Reports();
// By new or old name; null if there is none.
const Report* FindReport(std::string_view name);
// Up to three names close to a misspelt one.
std::vector<std::string_view> NearestReports(std::string_view name);
// What a call without -r runs, in this order.
std::span<const std::string_view> DefaultReports();

// Whether the report looks at NVTX ranges: the names of others begin with "cuda_".
bool ReadsRanges(const Report& report, std::span<const std::string> args);
// Whether the report's rows depend on events outside of its window too: it numbers all ranges.
bool ReadsAllTime(const Report& report);

// Before an input is read. Errors: kUsage.
Status CheckReportArguments(const Report& report, std::span<const std::string> args);
// Runs it with checked arguments. Errors (kUsage): one names a kernel or range that is not there.
Result<RowSource> RunReport(const Report& report, const Query& query);

}  // namespace batchlight::stats
