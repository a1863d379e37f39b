// Memory by line of Python code.
#include <cmath>

#include "analysis/lines/stack_lines.h"
#include "analysis/numbers/percent.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

struct MemoryLine {
  const Store& store;
  const LineMemory& memory;
  const LineMemoryRow& line;

  std::string Text(std::vector<StringId> PythonFramesTable::*column) const {
    if (line.frame.IsNone()) return "";
    return std::string(store.Text((store.python_frames.*column)[line.frame.row()]));
  }
};

std::string MemoryPlace(const MemoryLine& row) {
  if (row.line.frame.IsNone()) return "[no Python code]";
  return row.Text(&PythonFramesTable::file) + ':' +
         std::to_string(row.store.python_frames.line[row.line.frame.row()]);
}

auto BytesOf(uint64_t LineMemoryRow::*bytes) {
  return [bytes](const MemoryLine& row) { return NumberCell(row.line.*bytes); };
}

Columns<MemoryLine> MemoryLineColumns() {
  using Row = MemoryLine;
  return {
      {TextColumn("place", "Line",
                  "File and line: the innermost of your own code, not of installed packages"),
       MemoryPlace},
      {TextColumn("source", "Source", "The line's text, if its file is still as it was"),
       [](const Row& row) { return row.Text(&PythonFramesTable::text); }},
      {TextColumn("function", "Function", "In which the line stands"),
       [](const Row& row) { return row.Text(&PythonFramesTable::function); }},
      {BytesColumn("peak", "At Peak", "Held by blocks of the line when the process held most"),
       BytesOf(&LineMemoryRow::peak_bytes)},
      {PercentColumn("peak_share", "Peak %", "Of all that was held then"),
       [](const Row& row) { return PercentOf(row.line.peak_bytes, row.memory.peak_bytes); }},
      {BytesColumn("peak_python", "Python At Peak", "Of At Peak, by objects of Python"),
       BytesOf(&LineMemoryRow::peak_python_bytes)},
      {CountColumn("allocations", "Allocations", "Blocks; estimated where they are sampled"),
       BytesOf(&LineMemoryRow::allocations)},
      {BytesColumn("allocated", "Allocated", "In all, freed again or not"),
       BytesOf(&LineMemoryRow::allocated_bytes)},
      {PercentColumn("python_share", "Python %",
                     "Of Allocated, for objects of Python; the rest is "
                     "native: arrays, tensors, libraries"),
       [](const Row& row) { return PercentOf(row.line.python_bytes, row.line.allocated_bytes); }},
      {BytesColumn("end", "At End", "Not freed when the process, or the recording, ended"),
       BytesOf(&LineMemoryRow::end_bytes)},
      {BytesColumn("growth", "Growth/Step",
                   "By which what the line holds rises from one steady "
                   "step to the next"),
       [](const Row& row) {
         if (row.memory.steps == 0) return Cell{};
         return Cell{static_cast<int64_t>(std::llround(row.line.growth_per_step_bytes))};
       }},
      {TextColumn("callers", "Callers", "Lines of your own code that led there, innermost first"),
       [](const Row& row) {
         return row.line.frame.IsNone() ? ""
                                        : CallersText(row.store, row.line.stack, row.line.frame);
       }}};
}

}  // namespace

ResultTable MakeMemoryLinesTable(const RunOverview& overview) {
  const Columns<MemoryLine> columns = MemoryLineColumns();
  ResultTable table = EmptyTable("memory_lines", "Memory of each line of Python", columns);
  for (const LineMemoryRow& line : overview.line_memory.rows) {
    AddRow(table, columns, MemoryLine{*overview.store, overview.line_memory, line});
  }
  return table;
}

}  // namespace batchlight
