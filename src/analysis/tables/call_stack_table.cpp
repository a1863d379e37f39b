#include <string>

#include "analysis/cpu/call_stacks.h"
#include "analysis/cpu/sample_sums.h"
#include "analysis/lines/call_lines.h"
#include "analysis/lines/source_place.h"
#include "analysis/lines/stack_lines.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/cpu_tables.h"

namespace batchlight {
namespace {

struct CallerRow {
  const Store& store;
  const CallsOfCaller& sum;
};

std::string CallerAt(const CallerRow& row, size_t place) {
  if (place >= row.sum.callers.size()) return {};
  return FrameName(row.store, row.sum.callers[place]);
}

std::string LibraryOf(const CallerRow& row) {
  if (row.sum.callers.empty()) return {};
  return ModuleName(row.store, row.store.native_frames.module[row.sum.callers.front().row()]);
}

std::string PythonLine(const CallerRow& row) {
  if (row.sum.python_frame.IsNone()) return {};
  const PythonFramesRow frame = row.store.python_frames.Row(row.sum.python_frame.row());
  return std::string(ShortFile(row.store.Text(frame.file))) + ':' + std::to_string(frame.line);
}

const Columns<CallerRow>& CallerColumns() {
  using R = CallerRow;
  static const Columns<R> columns = {
      {TextColumn("call", "Call", "Function of CUDA or of the C library"),
       [](const R& row) { return std::string(row.store.Text(row.sum.call)); }},
      {CountColumn("calls", "Calls", "Those that were long enough for a stack"),
       [](const R& row) { return NumberCell(row.sum.calls); }},
      {TimeColumn("total", "Total", "In these calls"),
       [](const R& row) { return Cell{row.sum.total_ns}; }},
      {TimeColumn("longest", "Longest", "The longest of them"),
       [](const R& row) { return Cell{row.sum.longest_ns}; }},
      {TextColumn("function", "Called By", "Innermost function outside of CUDA and the C library"),
       [](const R& row) { return CallerAt(row, 0); }},
      {TextColumn("library", "Library", "Program or library of that function"), LibraryOf},
      {TextColumn("caller", "In", "The function that called that one"),
       [](const R& row) { return CallerAt(row, 1); }},
      {TextColumn("caller_caller", "In Turn In", "And the one that called that"),
       [](const R& row) { return CallerAt(row, 2); }},
      {TextColumn("line", "Python Line",
                  "Innermost line of your own code; of calls of 5 ms and longer by samples"),
       PythonLine}};
  return columns;
}

}  // namespace

ResultTable MakeCallStacksTable(const RunOverview& overview) {
  const Store& store = *overview.store;
  ResultTable table = EmptyTable(
      "call_stacks", "Calls of CUDA and of the C library, by who made them", CallerColumns());
  const StackLines lines(store);
  const auto line_of = [&](PythonStackId stack) { return lines.Of(stack).frame; };
  for (const CallsOfCaller& sum : SumCallsByCaller(store, PythonStacksOfCallsAndLooks(store),
                                                   PythonStacksOfOsCalls(store), line_of)) {
    AddRow(table, CallerColumns(), CallerRow{store, sum});
  }
  return table;
}

}  // namespace batchlight
