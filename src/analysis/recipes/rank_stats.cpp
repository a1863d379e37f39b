#include "analysis/recipes/rank_stats.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/numbers/quantile.h"
#include "analysis/stats/duration_summary.h"
#include "base/saturating_add.h"

namespace batchlight::recipes {
namespace {

using stats::RoundDecimal;

// Places of the columns.
enum : size_t {
  kName,
  kShare,
  kTotal,
  kCount,
  kMean,
  kQ1,
  kMedian,
  kQ3,
  kMin,
  kMax,
  kDeviation,
  kColumns
};

ResultColumn ColumnOf(const Measure& measure, const char* name, CellType type) {
  return {name, type, measure.unit, type == CellType::kReal ? 1 : 0, {}};
}

std::vector<ResultColumn> Columns(const Measure& measure) {
  const bool time = measure.unit == Unit::kTimeNs;
  const auto whole = [&](const char* name) { return ColumnOf(measure, name, CellType::kInteger); };
  const auto real = [&](const char* name) { return ColumnOf(measure, name, CellType::kReal); };
  return {stats::Keyed("name", stats::TextColumn("Name")),
          {time ? "Time" : "Share", CellType::kReal, Unit::kPercent, 1, {}},
          stats::Keyed("total", whole(time ? "Total Time" : "Total")),
          stats::IntegerColumn(measure.count),
          real("Avg"),
          real("Q1"),
          real("Med"),
          real("Q3"),
          whole("Min"),
          whole("Max"),
          real("StdDev")};
}

double Real(const Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* whole = std::get_if<int64_t>(&cell)) return static_cast<double>(*whole);
  return 0;
}
int64_t Whole(const Cell& cell) {
  const auto* whole = std::get_if<int64_t>(&cell);
  return whole == nullptr ? 0 : *whole;
}

// Largest total first, then by name; and what each is of all.
void Finish(ResultTable& table) {
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return a[kTotal] != b[kTotal] ? Whole(a[kTotal]) > Whole(b[kTotal]) : a[kName] < b[kName];
  });
  double all = 0;
  for (const auto& row : table.rows) all += Real(row[kTotal]);
  for (auto& row : table.rows) {
    if (all != 0) row[kShare] = RoundDecimal(Real(row[kTotal]) * 100 / all);
  }
}

// One name over ranks.
struct Over {
  std::vector<const std::vector<Cell>*> rows;
  std::vector<int64_t> ranks;
};

std::string RanksWith(const Over& over, size_t column, int64_t value) {
  std::string text;
  for (size_t i = 0; i < over.rows.size(); ++i) {
    if (Whole((*over.rows[i])[column]) != value) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(over.ranks[i]);
  }
  return text;
}

// From the deviations and means of the ranks, exactly that of all values.
double PooledDeviation(const Over& over, double mean, double count) {
  if (count < 2) return 0;
  double squares = 0;
  for (const auto* row : over.rows) {
    const double n = Real((*row)[kCount]);
    const double deviation = Real((*row)[kDeviation]);
    const double off = Real((*row)[kMean]) - mean;
    squares += (n - 1) * deviation * deviation + n * off * off;
  }
  return RoundDecimal(std::sqrt(squares / (count - 1)));
}

std::vector<Cell> RowOver(const std::string& name, const Over& over) {
  int64_t total = 0, count = 0, least = INT64_MAX, most = INT64_MIN;
  double q1 = 0, q3 = 0;
  std::vector<double> medians;
  for (const auto* row : over.rows) {
    SaturatingAdd(total, Whole((*row)[kTotal]));
    SaturatingAdd(count, Whole((*row)[kCount]));
    least = std::min(least, Whole((*row)[kMin]));
    most = std::max(most, Whole((*row)[kMax]));
    q1 = medians.empty() ? Real((*row)[kQ1]) : std::min(q1, Real((*row)[kQ1]));
    q3 = medians.empty() ? Real((*row)[kQ3]) : std::max(q3, Real((*row)[kQ3]));
    medians.push_back(Real((*row)[kMedian]));
  }
  const double mean = static_cast<double>(total) / static_cast<double>(count);
  return CellRow(name, Cell(), total, count, RoundDecimal(mean), q1,
                 RoundDecimal(Quantile(medians, 0.5)), q3, least, most,
                 PooledDeviation(over, mean, static_cast<double>(count)),
                 RanksWith(over, kMin, least), RanksWith(over, kMax, most));
}

}  // namespace

bool IsStatsTable(const ResultTable& table) { return table.columns.size() == kColumns; }

ResultTable StatsOfRank(const Measure& measure, Groups groups) {
  ResultTable table;
  table.columns = Columns(measure);
  for (auto& [name, values] : groups) {
    if (values.empty()) continue;
    const stats::Summary summary = stats::Summarize(values);
    const double q1 = RoundDecimal(Quantile(values, 0.25));
    const double q3 = RoundDecimal(Quantile(values, 0.75));
    table.rows.push_back(CellRow(name, Cell(), summary.total, summary.count, summary.mean, q1,
                                 summary.median, q3, summary.min, summary.max, summary.deviation));
  }
  Finish(table);
  return table;
}

ResultTable StatsOverRanks(const std::vector<const ResultTable*>& tables,
                           const std::vector<int64_t>& ranks) {
  std::map<std::string, Over> by_name;
  for (size_t i = 0; i < tables.size(); ++i) {
    for (const auto& row : tables[i]->rows) {
      const auto* name = std::get_if<std::string>(&row[kName]);
      Over& over = by_name[name == nullptr ? "" : *name];
      over.rows.push_back(&row);
      over.ranks.push_back(ranks[i]);
    }
  }
  ResultTable table;
  if (!tables.empty()) table.columns = tables[0]->columns;
  table.columns.push_back(stats::TextColumn("Min Rank"));
  table.columns.push_back(stats::TextColumn("Max Rank"));
  for (const auto& [name, over] : by_name) table.rows.push_back(RowOver(name, over));
  Finish(table);
  return table;
}

}  // namespace batchlight::recipes
