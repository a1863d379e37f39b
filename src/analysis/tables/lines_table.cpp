// Time of each line of Python code.
#include "analysis/lines/source_place.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

struct Row {
  const Store& store;
  const LineTimes& times;
  const LineRow& line;

  StringId Of(std::vector<StringId> PythonFramesTable::*column) const {
    return line.frame.IsNone() ? StringId() : (store.python_frames.*column)[line.frame.row()];
  }
  std::string Text(std::vector<StringId> PythonFramesTable::*column) const {
    return std::string(store.Text(Of(column)));
  }
};

std::string PlaceText(const Row& row) {
  if (row.line.frame.IsNone()) return "";
  return row.Text(&PythonFramesTable::file) + ':' +
         std::to_string(row.store.python_frames.line[row.line.frame.row()]);
}

double ShareOf(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100 * double(part) / double(whole);
}

auto TimeOf(int64_t LineRow::*ns) {
  return [ns](const Row& row) { return Cell{row.line.*ns}; };
}

Columns<Row> LineColumns(bool gpu) {
  Columns<Row> columns = {
      {TextColumn("kind", "What", "A line, or what no line of the forward made"),
       [](const Row& row) { return std::string(LineKindName(row.line.kind)); }},
      {TextColumn("place", "Line",
                  "File and line: the innermost of your own code, not of installed packages"),
       PlaceText},
      {TextColumn("source", "Source", "The line's text, if its file is still as it was"),
       [](const Row& row) { return row.Text(&PythonFramesTable::text); }},
      {TextColumn("function", "Function", "In which the line stands"),
       [](const Row& row) { return row.Text(&PythonFramesTable::function); }},
      {CountColumn("calls", "Calls", "Operators that the line called, forward"),
       [](const Row& row) { return NumberCell(row.line.calls); }}};
  if (gpu) {
    Append<Row>(
        columns,
        {{TimeColumn("gpu", "GPU",
                     "Kernels, copies and sets of the line; all rows add up to the GPU's"),
          [](const Row& row) { return Cell{row.line.gpu_ns()}; }},
         {PercentColumn("gpu_share", "GPU %", "Of all work on the GPU"),
          [](const Row& row) { return ShareOf(row.line.gpu_ns(), row.times.gpu_ns); }},
         {TimeColumn("gpu_forward", "GPU Forward", "Of the operators that the line called"),
          TimeOf(&LineRow::gpu_forward_ns)},
         {TimeColumn("gpu_backward", "GPU Backward", "Of the functions that differentiate them"),
          TimeOf(&LineRow::gpu_backward_ns)},
         {TimeColumn("gpu_recompute", "GPU Recompute", "Of forward that checkpointing runs again"),
          TimeOf(&LineRow::gpu_recompute_ns)}});
  }
  Append<Row>(
      columns,
      {{TimeColumn("cpu", "CPU", "Of the line's operators on the CPU, forward and backward"),
        [](const Row& row) { return Cell{row.line.cpu_ns()}; }},
       {PercentColumn("cpu_share", "CPU %", "Of all operators"),
        [](const Row& row) { return ShareOf(row.line.cpu_ns(), row.times.cpu_ns); }},
       {TimeColumn("cpu_forward", "CPU Forward", "Of the operators that the line called"),
        TimeOf(&LineRow::cpu_forward_ns)},
       {TimeColumn("cpu_backward", "CPU Backward", "Of the functions that differentiate them"),
        TimeOf(&LineRow::cpu_backward_ns)},
       {TimeColumn("cpu_recompute", "CPU Recompute", "Of forward that checkpointing runs again"),
        TimeOf(&LineRow::cpu_recompute_ns)},
       {TextColumn("callers", "Callers", "Lines of your own code that led there, innermost first"),
        [](const Row& row) { return CallersText(row.store, row.line.stack, row.line.frame); }}});
  return columns;
}

}  // namespace

ResultTable MakeLinesTable(const RunOverview& overview) {
  const Columns<Row> columns = LineColumns(overview.lines.gpu_ns != 0);
  ResultTable table = EmptyTable("lines", "Time of each line of Python, on CPU and GPU", columns);
  for (const LineRow& line : overview.lines.rows) {
    AddRow(table, columns, Row{*overview.store, overview.lines, line});
  }
  return table;
}

}  // namespace batchlight
