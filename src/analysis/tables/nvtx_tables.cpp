// What a program said with NVTX: its ranges by name, and every mark.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "analysis/result/nvtx_details.h"
#include "analysis/result/percentile_cell.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/beside_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

// What the ranges of one row carry beside their message.
struct RowDetails {
  std::string category;  // of the first range that has one
  std::string color;
  std::optional<double> least;  // of the payloads
  std::optional<double> most;

  std::string PayloadText() const {
    if (!least) return {};
    return *least == *most ? PlainNumber(*least)
                           : PlainNumber(*least) + " to " + PlainNumber(*most);
  }
};

struct RangeRow {
  const NvtxRow& row;
  RowDetails details;
};

class DetailsOfRows {
 public:
  explicit DetailsOfRows(const Store& store) {
    const NvtxRangesTable& ranges = store.nvtx_ranges;
    for (size_t row = 0; row < ranges.size(); ++row) {
      if (ranges.attributes[row].IsNone()) continue;
      const NvtxDetails details = DetailsOf(store, ranges.domain[row], ranges.attributes[row]);
      RowDetails& all = rows_[{details.domain, ranges.message[row], ranges.style[row]}];
      if (all.category.empty()) all.category = details.category;
      if (all.color.empty()) all.color = details.color;
      if (!details.number) continue;
      all.least = std::min(all.least.value_or(*details.number), *details.number);
      all.most = std::max(all.most.value_or(*details.number), *details.number);
    }
  }

  RowDetails Of(const NvtxRow& row) const {
    const auto found = rows_.find({row.domain, row.message, row.style});
    return found == rows_.end() ? RowDetails() : found->second;
  }
  // Whether any row has this.
  bool Any(std::string (*text)(const RowDetails&)) const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [&](const auto& entry) { return !text(entry.second).empty(); });
  }

 private:
  std::map<std::tuple<std::string, StringId, NvtxStyle>, RowDetails> rows_;
};

Columns<RangeRow> RangeColumns(const Store& store) {
  using Row = RangeRow;
  const auto time = [](int64_t Sample::*ns) {
    return [ns](const Row& row) { return row.row.duration.*ns; };
  };
  const auto percentile = [](int64_t Sample::*ns) {
    return [ns](const Row& row) { return PercentileCell(row.row.duration, ns); };
  };
  return {
      {TextColumn("range", "Range", ""),
       [&store](const Row& row) { return std::string(store.Text(row.row.message)); }},
      {TextColumn("domain", "Domain", "Empty = default"),
       [](const Row& row) { return row.row.domain; }},
      {TextColumn("style", "Style", "PushPop or StartEnd"),
       [](const Row& row) { return std::string(ShortName(row.row.style)); }},
      {OfWholeRun(CountColumn("calls", "Calls", "In the whole run")),
       [](const Row& row) { return NumberCell(row.row.calls); }},
      {OfWholeRun(
           TimeColumn("total", "Total", "Whole run; a range inside one of its name counts once")),
       [](const Row& row) { return row.row.total_ns; }},
      {OfWholeRun(TimeColumn("self", "Self", "Whole run, without ranges inside")),
       [](const Row& row) { return row.row.self_ns; }},
      {OfWholeRun(TimeColumn("median", "Median", "")), time(&Sample::median)},
      {OfWholeRun(TimeColumn("p5", "P5", "Empty below five calls")), percentile(&Sample::p5)},
      {OfWholeRun(TimeColumn("p95", "P95", "Empty below five calls")), percentile(&Sample::p95)},
      {OfWholeRun(TimeColumn("min", "Min", "")), time(&Sample::min)},
      {OfWholeRun(TimeColumn("max", "Max", "")), time(&Sample::max)},
      {TimeColumn("total_per_step", "Total per Step", "Mean over the steps that count"),
       [](const Row& row) { return NanosecondsCell(row.row.total_per_step_ns); }},
      {PercentColumn("share_of_step", "Share of Step", "Total per step / mean step"),
       [](const Row& row) { return row.row.share_of_step * 100; }},
      {BesideColumn(), [](const Row& row) { return NanosecondsCell(row.row.beside_per_step_ns); }}};
}

// Only of what any range carries.
void AddDetailColumns(const DetailsOfRows& details, Columns<RangeRow>& columns) {
  const auto add = [&](ResultColumn column, std::string (*text)(const RowDetails&)) {
    if (!details.Any(text)) return;
    columns.push_back(
        {std::move(column), [text](const RangeRow& row) { return text(row.details); }});
  };
  add(TextColumn("category", "Category", "Its name, or its number"),
      [](const RowDetails& row) { return row.category; });
  add(TextColumn("color", "Color", "As the program gave it"),
      [](const RowDetails& row) { return row.color; });
  add(TextColumn("payload", "Payload", "The number that the ranges carry, from least to most"),
      [](const RowDetails& row) { return row.PayloadText(); });
}

struct Mark {
  NvtxMarksRow row;
  NvtxDetails details;
};

Columns<Mark> MarkColumns(const Store& store) {
  const auto process = [&store](const Mark& mark) {
    const ProcessId id = store.ProcessOf(mark.row.thread);
    return id.IsNone() ? Cell{} : Cell{int64_t{store.processes.pid[id.row()]}};
  };
  const auto thread = [&store](const Mark& mark) {
    const ThreadId id = mark.row.thread;
    return id.IsNone() ? Cell{} : Cell{int64_t{store.threads.tid[id.row()]}};
  };
  return {{TimeColumn("start", "Start", "Since the beginning of the run"),
           [](const Mark& mark) { return mark.row.start_ns; }},
          {CountColumn("pid", "PID", "Process"), process},
          {CountColumn("tid", "TID", "Thread"), thread},
          {TextColumn("message", "Message", ""),
           [&store](const Mark& mark) { return std::string(store.Text(mark.row.message)); }},
          {TextColumn("domain", "Domain", "Empty = default"),
           [](const Mark& mark) { return mark.details.domain; }},
          {TextColumn("category", "Category", "Its name, or its number"),
           [](const Mark& mark) { return mark.details.category; }},
          {TextColumn("color", "Color", "As the program gave it"),
           [](const Mark& mark) { return mark.details.color; }},
          {TextColumn("payload", "Payload", "The number that the mark carries"),
           [](const Mark& mark) { return mark.details.payload; }}};
}

}  // namespace

ResultTable MakeNvtxTable(const RunOverview& overview) {
  const DetailsOfRows details(*overview.store);
  Columns<RangeRow> columns = RangeColumns(*overview.store);
  AddDetailColumns(details, columns);
  ResultTable table = EmptyTable("nvtx_ranges", "NVTX ranges", columns);
  for (const NvtxRow& row : overview.nvtx.rows) AddRow(table, columns, {row, details.Of(row)});
  return table;
}

ResultTable MakeNvtxMarksTable(const RunOverview& overview) {
  const Store& store = *overview.store;
  const Columns<Mark> columns = MarkColumns(store);
  ResultTable table = EmptyTable("nvtx_marks", "NVTX marks", columns);
  for (size_t row = 0; row < store.nvtx_marks.size(); ++row) {
    const NvtxMarksRow mark = store.nvtx_marks.Row(row);
    AddRow(table, columns, {mark, DetailsOf(store, mark.domain, mark.attributes)});
  }
  return table;
}

}  // namespace batchlight
