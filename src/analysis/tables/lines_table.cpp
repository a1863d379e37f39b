// Time of each line of Python code, what it keeps waiting, and what it copies.
#include <algorithm>
#include <set>

#include "analysis/gpu/line_gaps.h"
#include "analysis/lines/source_place.h"
#include "analysis/numbers/percent.h"
#include "analysis/result/result_column.h"
#include "analysis/roofline/line_copies.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

struct LinesBeside {
  std::map<LineKey, LineGap> gaps;
  std::map<LineKey, LineCopies> copies;
};

struct ShownLine {
  const Store& store;
  const LineTimes& times;
  const LinesBeside& beside;
  const LineRow& line;

  LineKey Key() const { return KeyOfLine(store, line.kind, line.frame); }
  Cell Of(int64_t LineGap::*ns) const {
    const auto gap = beside.gaps.find(Key());
    return Cell{gap == beside.gaps.end() ? int64_t{0} : gap->second.*ns};
  }
  Cell Of(uint64_t LineCopies::*bytes) const {
    const auto copies = beside.copies.find(Key());
    return NumberCell(copies == beside.copies.end() ? 0 : copies->second.*bytes);
  }

  StringId Of(std::vector<StringId> PythonFramesTable::*column) const {
    return line.frame.IsNone() ? StringId() : (store.python_frames.*column)[line.frame.row()];
  }
  std::string Text(std::vector<StringId> PythonFramesTable::*column) const {
    return std::string(store.Text(Of(column)));
  }
};

std::string PlaceText(const ShownLine& row) {
  if (row.line.frame.IsNone()) return "";
  return row.Text(&PythonFramesTable::file) + ':' +
         std::to_string(row.store.python_frames.line[row.line.frame.row()]);
}

auto TimeOf(int64_t LineRow::*ns) {
  return [ns](const ShownLine& row) { return Cell{row.line.*ns}; };
}

bool AnyOf(const std::map<LineKey, LineCopies>& lines, uint64_t LineCopies::*bytes) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.second.*bytes > 0; });
}

Columns<ShownLine> GapColumns() {
  return {{TimeColumn("idle_caused", "Idle Caused",
                      "GPUs had nothing to do while the line ran, or until what it launched came"),
           [](const ShownLine& row) { return row.Of(&LineGap::idle_ns); }},
          {TimeColumn("waits", "Waits",
                      "Threads waited for the GPU in the line: .item(), synchronize, copies"),
           [](const ShownLine& row) { return row.Of(&LineGap::wait_ns); }}};
}

Columns<ShownLine> CopyColumns(const LinesBeside& beside) {
  Columns<ShownLine> columns;
  if (AnyOf(beside.copies, &LineCopies::tensor_bytes)) {
    columns.push_back(
        {BytesColumn("copied", "Copied",
                     "Tensors that copy_ (clone, contiguous, to, cpu, ...) and cat (stack) wrote"),
         [](const ShownLine& row) { return row.Of(&LineCopies::tensor_bytes); }});
  }
  if (AnyOf(beside.copies, &LineCopies::gpu_bytes)) {
    columns.push_back({BytesColumn("gpu_copied", "GPU Copied",
                                   "Moved by copies of GPUs: to the device, from it, within it"),
                       [](const ShownLine& row) { return row.Of(&LineCopies::gpu_bytes); }});
  }
  return columns;
}

// Lines that launched nothing and yet kept a GPU or a thread waiting, by falling idle time.
std::vector<LineRow> LinesWithoutTime(const Store& store, const LineTimes& times,
                                      const std::map<LineKey, LineGap>& gaps) {
  std::set<LineKey> shown;
  for (const LineRow& row : times.rows) shown.insert(KeyOfLine(store, row.kind, row.frame));
  std::vector<std::pair<LineGap, LineRow>> found;
  for (const auto& [key, gap] : gaps) {
    if (shown.contains(key) || (gap.idle_ns == 0 && gap.wait_ns == 0)) continue;
    found.emplace_back(gap, LineRow{.kind = key.kind, .frame = gap.frame, .stack = {}});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.idle_ns, a.first.wait_ns) >
           std::pair(b.first.idle_ns, b.first.wait_ns);
  });
  std::vector<LineRow> rows;
  for (auto& [gap, row] : found) rows.push_back(row);
  return rows;
}

Columns<ShownLine> ShownLineColumns(bool gpu, const LinesBeside& beside) {
  Columns<ShownLine> columns = {
      {TextColumn("kind", "What", "A line, or what no line of the forward made"),
       [](const ShownLine& row) { return std::string(LineKindName(row.line.kind)); }},
      {TextColumn("place", "Line",
                  "File and line: the innermost of your own code, not of installed packages"),
       PlaceText},
      {TextColumn("source", "Source", "The line's text, if its file is still as it was"),
       [](const ShownLine& row) { return row.Text(&PythonFramesTable::text); }},
      {TextColumn("function", "Function", "In which the line stands"),
       [](const ShownLine& row) { return row.Text(&PythonFramesTable::function); }},
      {CountColumn("calls", "Calls", "Operators that the line called, forward"),
       [](const ShownLine& row) { return NumberCell(row.line.calls); }}};
  if (gpu) {
    Append<ShownLine>(
        columns,
        {{TimeColumn("gpu", "GPU",
                     "Kernels, copies and sets of the line; all rows add up to the GPU's"),
          [](const ShownLine& row) { return Cell{row.line.gpu_ns()}; }},
         {PercentColumn("gpu_share", "GPU %", "Of all work on the GPU"),
          [](const ShownLine& row) { return PercentOf(row.line.gpu_ns(), row.times.gpu_ns); }},
         {TimeColumn("gpu_forward", "GPU Forward", "Of the operators that the line called"),
          TimeOf(&LineRow::gpu_forward_ns)},
         {TimeColumn("gpu_backward", "GPU Backward", "Of the functions that differentiate them"),
          TimeOf(&LineRow::gpu_backward_ns)},
         {TimeColumn("gpu_recompute", "GPU Recompute", "Of forward that checkpointing runs again"),
          TimeOf(&LineRow::gpu_recompute_ns)}});
  }
  Append<ShownLine>(
      columns,
      {{TimeColumn("cpu", "CPU", "Of the line's operators on the CPU, forward and backward"),
        [](const ShownLine& row) { return Cell{row.line.cpu_ns()}; }},
       {PercentColumn("cpu_share", "CPU %", "Of all operators"),
        [](const ShownLine& row) { return PercentOf(row.line.cpu_ns(), row.times.cpu_ns); }},
       {TimeColumn("cpu_forward", "CPU Forward", "Of the operators that the line called"),
        TimeOf(&LineRow::cpu_forward_ns)},
       {TimeColumn("cpu_backward", "CPU Backward", "Of the functions that differentiate them"),
        TimeOf(&LineRow::cpu_backward_ns)},
       {TimeColumn("cpu_recompute", "CPU Recompute", "Of forward that checkpointing runs again"),
        TimeOf(&LineRow::cpu_recompute_ns)}});
  if (gpu) Append(columns, GapColumns());
  Append(columns, CopyColumns(beside));
  Append<ShownLine>(
      columns,
      {{TextColumn("callers", "Callers", "Lines of your own code that led there, innermost first"),
        [](const ShownLine& row) {
          return CallersText(row.store, row.line.stack, row.line.frame);
        }}});
  return columns;
}

}  // namespace

ResultTable MakeLinesTable(const RunOverview& overview) {
  const Store& store = *overview.store;
  const LineTimes& times = overview.lines;
  const bool gpu = times.gpu_ns != 0;
  LinesBeside beside{.gaps = {}, .copies = MeasureLineCopies(store, overview.links, overview.work)};
  if (gpu) beside.gaps = MeasureLineGaps(*overview.inputs, overview.links);
  const Columns<ShownLine> columns = ShownLineColumns(gpu, beside);
  ResultTable table = EmptyTable("lines", "Time of each line of Python, on CPU and GPU", columns);
  const auto add = [&](const LineRow& line) {
    AddRow(table, columns, ShownLine{store, times, beside, line});
  };
  for (const LineRow& line : times.rows) add(line);
  if (times.rows.empty()) return table;
  for (const LineRow& line : LinesWithoutTime(store, times, beside.gaps)) add(line);
  return table;
}

}  // namespace batchlight
