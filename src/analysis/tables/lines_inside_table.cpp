// Lines of packages below each line of the user's code.
#include "analysis/tables/lines_inside_table.h"

#include "analysis/lines/lines_inside.h"
#include "analysis/result/result_column.h"

namespace batchlight {
namespace {

struct InsideRow {
  const Store& store;
  const LineInside& line;

  std::string Place(PythonFrameId frame) const {
    return std::string(store.Text(store.python_frames.file[frame.row()])) + ':' +
           std::to_string(store.python_frames.line[frame.row()]);
  }
  std::string Text(PythonFrameId frame, std::vector<StringId> PythonFramesTable::*column) const {
    return std::string(store.Text((store.python_frames.*column)[frame.row()]));
  }
};

auto TimeOf(int64_t LineInside::*ns) {
  return [ns](const InsideRow& row) { return Cell{row.line.*ns}; };
}

Columns<InsideRow> InsideColumns(bool gpu) {
  using Row = InsideRow;
  Columns<Row> columns = {
      {TextColumn("kind", "What", "A line, or what no line of the forward made"),
       [](const Row& row) { return std::string(LineKindName(row.line.kind)); }},
      {TextColumn("place", "Line", "File and line of your own code"),
       [](const Row& row) { return row.Place(row.line.line); }},
      {TextColumn("source", "Source", "The line's text, if its file is still as it was"),
       [](const Row& row) { return row.Text(row.line.line, &PythonFramesTable::text); }},
      {TextColumn("inside", "Inside",
                  "The innermost line of a package that it led to; of PyTorch's own if there is no "
                  "other"),
       [](const Row& row) { return row.Place(row.line.inside); }},
      {TextColumn("function", "Function", "In which the line inside stands"),
       [](const Row& row) { return row.Text(row.line.inside, &PythonFramesTable::function); }},
      {CountColumn("calls", "Calls", "Operators that were called there, forward"),
       [](const Row& row) { return NumberCell(row.line.calls); }}};
  if (gpu) {
    Append<Row>(
        columns,
        {{TimeColumn("gpu", "GPU", "Kernels, copies and sets"),
          [](const Row& row) { return Cell{row.line.gpu_ns()}; }},
         {TimeColumn("gpu_forward", "GPU Forward", "Of the operators called there"),
          TimeOf(&LineInside::gpu_forward_ns)},
         {TimeColumn("gpu_backward", "GPU Backward", "Of the functions that differentiate them"),
          TimeOf(&LineInside::gpu_backward_ns)}});
  }
  Append<Row>(columns, {{TimeColumn("cpu", "CPU", "Of the operators, forward and backward"),
                         TimeOf(&LineInside::cpu_ns)}});
  return columns;
}

}  // namespace

ResultTable MakeLinesInsideTable(const RunOverview& overview) {
  const Store& store = *overview.store;
  const Columns<InsideRow> columns = InsideColumns(overview.lines.gpu_ns != 0);
  ResultTable table =
      EmptyTable("lines_inside", "Lines of packages below each line of Python", columns);
  const std::vector<StackTimes> stacks = MeasureStacks(store, overview.links, overview.work);
  for (const LineInside& line : MeasureLinesInside(store, stacks)) {
    AddRow(table, columns, InsideRow{store, line});
  }
  return table;
}

}  // namespace batchlight
