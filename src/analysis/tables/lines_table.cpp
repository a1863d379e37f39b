// Time of each line of Python code.
#include "analysis/lines/source_place.h"
#include "analysis/numbers/percent.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

struct ShownLine {
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

std::string PlaceText(const ShownLine& row) {
  if (row.line.frame.IsNone()) return "";
  return row.Text(&PythonFramesTable::file) + ':' +
         std::to_string(row.store.python_frames.line[row.line.frame.row()]);
}

auto TimeOf(int64_t LineRow::*ns) {
  return [ns](const ShownLine& row) { return Cell{row.line.*ns}; };
}

Columns<ShownLine> ShownLineColumns(bool gpu) {
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
        TimeOf(&LineRow::cpu_recompute_ns)},
       {TextColumn("callers", "Callers", "Lines of your own code that led there, innermost first"),
        [](const ShownLine& row) {
          return CallersText(row.store, row.line.stack, row.line.frame);
        }}});
  return columns;
}

}  // namespace

ResultTable MakeLinesTable(const RunOverview& overview) {
  const Columns<ShownLine> columns = ShownLineColumns(overview.lines.gpu_ns != 0);
  ResultTable table = EmptyTable("lines", "Time of each line of Python, on CPU and GPU", columns);
  for (const LineRow& line : overview.lines.rows) {
    AddRow(table, columns, ShownLine{*overview.store, overview.lines, line});
  }
  return table;
}

}  // namespace batchlight
