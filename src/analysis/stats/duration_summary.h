// Total, mean, median and deviation of the values of groups, the nine columns most reports share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/result/row_source.h"
#include "store/flat_map.h"

namespace batchlight::stats {

// Rounds half away from zero at the decimal digit given, as SQLite's round() does: 8420.25 gives
// 8420.3 (printf's "%.1f" would give 8420.2).
double RoundDecimal(double value, int decimals = 1);

// Rounded to one decimal: mean, median, deviation (sample, n - 1; 0 for one value).
struct Summary {
  int64_t total = 0;
  int64_t count = 0;
  double mean = 0;
  double median = 0;
  int64_t min = 0;
  int64_t max = 0;
  double deviation = 0;
};

// Reorders `values`. None gives all zeros.
Summary Summarize(std::vector<int64_t>& values);

// Values by group. Groups are small numbers from 0 that the caller gives out.
class GroupedValues {
 public:
  void Reserve(size_t count) { entries_.reserve(count); }
  void Add(uint32_t group, int64_t value) { entries_.push_back({value, group}); }
  // One per group, up to the highest number used.
  std::vector<Summary> Summarize() const;

 private:
  struct Entry {
    int64_t value;
    uint32_t group;
  };
  std::vector<Entry> entries_;
};

// Gives out group numbers for 64-bit keys, in the order in which they are met.
class GroupNumbers {
 public:
  uint32_t Of(uint64_t key) {
    if (key == last_key_ && last_ != UINT32_MAX) return last_;
    last_key_ = key;
    last_ = numbers_.FindOrAdd(key, static_cast<uint32_t>(keys_.size()));
    if (last_ == keys_.size()) keys_.push_back(key);
    return last_;
  }
  const std::vector<uint64_t>& keys() const { return keys_; }
  size_t size() const { return keys_.size(); }

 private:
  uint64_t last_key_ = 0;
  uint32_t last_ = UINT32_MAX;
  FlatMap numbers_;
  std::vector<uint64_t> keys_;
};

// The eight leading columns: Time (%), Total Time, <count>, Avg, Med, Min, Max, StdDev.
std::vector<ResultColumn> SummaryColumns(std::string count_name);
// Writes those columns into the first eight cells.
void FillSummaryCells(const Summary& summary, double total_of_all, std::vector<Cell>& cells);

// Column constructors.
ResultColumn TimeColumn(std::string name);       // integer ns
ResultColumn TimestampColumn(std::string name);  // integer ns, a point in time
ResultColumn MeanTimeColumn(std::string name);   // ns with one decimal
ResultColumn IntegerColumn(std::string name);
ResultColumn RealColumn(std::string name, int decimals = 1);
ResultColumn TextColumn(std::string name);
ResultColumn BytesColumn(std::string name);  // integer or real bytes, shown as MB
// The column with a key by which pictures find it.
ResultColumn Keyed(std::string_view key, ResultColumn column);

// The order of equal totals, which in nsys depends on the report: by label from the last on (the
// name); with the group of fewer instances first; by the number that the group was given.
enum class Ties { kByLabel, kFewestFirst, kByNumber };

// A summary report: one row per group, largest total first.
// `labels` are the cells after the eight.
struct SummaryGroup {
  Summary summary;
  std::vector<Cell> labels;
  uint64_t number = 0;
};
std::vector<std::vector<Cell>> RowsByTotal(std::vector<SummaryGroup> groups,
                                           Ties ties = Ties::kByLabel);

// The same, with cells made when they are asked for: a report may have as many groups as events.
// `labels(group, cells)` fills the last `label_columns.size()` cells of a row.
using LabelFiller = std::function<void(size_t group, std::vector<Cell>& cells)>;
RowSource SummaryRows(std::string count_name, std::vector<ResultColumn> label_columns,
                      std::vector<Summary> summaries, LabelFiller labels);

}  // namespace batchlight::stats
