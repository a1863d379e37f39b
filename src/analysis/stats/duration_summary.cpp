#include "analysis/stats/duration_summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>

#include "analysis/numbers/quantile.h"
#include "analysis/stats/cells.h"

namespace batchlight::stats {

double RoundDecimal(double value, int decimals) {
  // long double has 64 bits of mantissa: value * 10 is exact, so ties are told apart as SQLite
  // tells them.
  long double scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  const long double scaled = static_cast<long double>(value) * scale;
  const long double rounded = scaled < 0 ? -std::floor(-scaled + 0.5L) : std::floor(scaled + 0.5L);
  return static_cast<double>(rounded / scale);
}

Summary Summarize(std::vector<int64_t>& values) {
  Summary summary;
  if (values.empty()) return summary;
  if (values.size() == 1) {
    const auto value = static_cast<double>(values[0]);
    return {values[0], 1, value, value, values[0], values[0], 0};
  }
  summary.count = static_cast<int64_t>(values.size());
  summary.min = summary.max = values.front();
  double mean = 0;
  double squares = 0;
  double seen = 0;
  __extension__ __int128 total = 0;  // a file may hold any times, and ranges nest
  for (const int64_t value : values) {
    total += value;
    summary.min = std::min(summary.min, value);
    summary.max = std::max(summary.max, value);
    seen += 1;
    const double from_old_mean = static_cast<double>(value) - mean;
    mean += from_old_mean / seen;
    squares += from_old_mean * (static_cast<double>(value) - mean);
  }
  summary.total = static_cast<int64_t>(std::clamp<decltype(total)>(total, INT64_MIN, INT64_MAX));
  summary.mean = RoundDecimal(static_cast<double>(total) / seen);
  summary.deviation = values.size() < 2 ? 0 : RoundDecimal(std::sqrt(squares / (seen - 1)));
  summary.median = RoundDecimal(Quantile(values, 0.5));
  return summary;
}

std::vector<Summary> GroupedValues::Summarize() const {
  std::vector<size_t> begin;
  for (const Entry& entry : entries_) {
    if (entry.group + size_t{1} > begin.size()) begin.resize(entry.group + size_t{1});
    ++begin[entry.group];
  }
  size_t sum = 0;
  for (size_t& count : begin) {
    const size_t next = sum + count;
    count = sum;
    sum = next;
  }
  std::vector<int64_t> sorted(entries_.size());
  std::vector<size_t> place = begin;
  for (const Entry& entry : entries_) sorted[place[entry.group]++] = entry.value;
  std::vector<Summary> summaries;
  summaries.reserve(begin.size());
  std::vector<int64_t> values;
  for (size_t group = 0; group < begin.size(); ++group) {
    values.assign(sorted.begin() + static_cast<ptrdiff_t>(begin[group]),
                  sorted.begin() + static_cast<ptrdiff_t>(place[group]));
    summaries.push_back(stats::Summarize(values));
  }
  return summaries;
}

ResultColumn TimeColumn(std::string name) {
  return {std::move(name), CellType::kInteger, Unit::kTimeNs, 0, {}};
}
ResultColumn TimestampColumn(std::string name) {
  return {std::move(name), CellType::kInteger, Unit::kTimestampNs, 0, {}};
}
ResultColumn MeanTimeColumn(std::string name) {
  return {std::move(name), CellType::kReal, Unit::kTimeNs, 1, {}};
}
ResultColumn IntegerColumn(std::string name) {
  return {std::move(name), CellType::kInteger, Unit::kNone, 0, {}};
}
ResultColumn RealColumn(std::string name, int decimals) {
  return {std::move(name), CellType::kReal, Unit::kNone, decimals, {}};
}
ResultColumn TextColumn(std::string name) {
  return {std::move(name), CellType::kText, Unit::kNone, 0, {}};
}
ResultColumn Keyed(std::string_view key, ResultColumn column) {
  column.key = key;
  return column;
}
ResultColumn BytesColumn(std::string name) {
  return {std::move(name), CellType::kReal, Unit::kBytes, 3, {}};
}

std::vector<ResultColumn> SummaryColumns(std::string count_name) {
  return {{"Time", CellType::kReal, Unit::kPercent, 1, {}},
          TimeColumn("Total Time"),
          IntegerColumn(std::move(count_name)),
          MeanTimeColumn("Avg"),
          MeanTimeColumn("Med"),
          TimeColumn("Min"),
          TimeColumn("Max"),
          MeanTimeColumn("StdDev")};
}

void FillSummaryCells(const Summary& summary, double total_of_all, std::vector<Cell>& cells) {
  // With a total of 0 nsys divides by zero and prints nothing.
  cells[0] = PercentCell(static_cast<double>(summary.total), total_of_all);
  cells[1] = summary.total;
  cells[2] = summary.count;
  cells[3] = summary.mean;
  cells[4] = summary.median;
  cells[5] = summary.min;
  cells[6] = summary.max;
  cells[7] = summary.deviation;
}

namespace {

constexpr ptrdiff_t kNumberColumns = 8;  // columns before the labels

// Groups of the same total: their labels are made once each, not for every comparison.
void SortByLabels(size_t width, const LabelFiller& labels, std::span<uint32_t> groups) {
  std::vector<std::pair<std::vector<Cell>, uint32_t>> labelled;
  labelled.reserve(groups.size());
  std::vector<Cell> cells(width);
  for (const uint32_t group : groups) {
    labels(group, cells);
    labelled.emplace_back(
        std::piecewise_construct,
        std::forward_as_tuple(std::make_move_iterator(cells.begin() + kNumberColumns),
                              std::make_move_iterator(cells.end())),
        std::forward_as_tuple(group));
  }
  std::sort(labelled.begin(), labelled.end());
  for (size_t i = 0; i < groups.size(); ++i) groups[i] = labelled[i].second;
}

}  // namespace

RowSource SummaryRows(std::string count_name, std::vector<ResultColumn> label_columns,
                      std::vector<Summary> summaries, LabelFiller labels) {
  RowSource source;
  source.columns = SummaryColumns(std::move(count_name));
  for (ResultColumn& column : label_columns) source.columns.push_back(std::move(column));
  const size_t width = source.columns.size();
  std::vector<std::pair<int64_t, uint32_t>> totals;
  totals.reserve(summaries.size());
  double total = 0;
  for (uint32_t i = 0; i < summaries.size(); ++i) {
    totals.emplace_back(summaries[i].total, i);
    total += static_cast<double>(summaries[i].total);
  }
  std::sort(totals.begin(), totals.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<uint32_t> order;
  order.reserve(totals.size());
  for (const auto& [sum, group] : totals) order.push_back(group);
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && totals[end].first == totals[begin].first) ++end;
    if (end - begin > 1) SortByLabels(width, labels, {&order[begin], end - begin});
    begin = end;
  }
  source.row_count = order.size();
  source.fill = [summaries = std::move(summaries), order = std::move(order),
                 labels = std::move(labels), total](size_t row, std::vector<Cell>& cells) {
    FillSummaryCells(summaries[order[row]], total, cells);
    labels(order[row], cells);
  };
  return source;
}

std::vector<std::vector<Cell>> RowsByTotal(std::vector<SummaryGroup> groups, Ties ties) {
  std::stable_sort(groups.begin(), groups.end(), [ties](const auto& a, const auto& b) {
    if (a.summary.total != b.summary.total) return a.summary.total > b.summary.total;
    if (ties == Ties::kFewestFirst && a.summary.count != b.summary.count) {
      return a.summary.count < b.summary.count;
    }
    if (ties == Ties::kByNumber && a.number != b.number) return a.number < b.number;
    return std::lexicographical_compare(a.labels.rbegin(), a.labels.rend(), b.labels.rbegin(),
                                        b.labels.rend());
  });
  double total = 0;
  for (const SummaryGroup& group : groups) total += static_cast<double>(group.summary.total);
  std::vector<std::vector<Cell>> rows;
  rows.reserve(groups.size());
  for (SummaryGroup& group : groups) {
    std::vector<Cell>& cells = rows.emplace_back();
    cells.reserve(8 + group.labels.size());
    cells.resize(8);
    FillSummaryCells(group.summary, total, cells);
    for (Cell& label : group.labels) cells.push_back(std::move(label));
  }
  return rows;
}

}  // namespace batchlight::stats
