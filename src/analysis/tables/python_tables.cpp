// Functions with the columns of cProfile, lines with those of line_profiler.
#include <algorithm>
#include <map>
#include <utility>

#include "analysis/lines/line_key.h"
#include "analysis/python/function_counts.h"
#include "analysis/python/line_counts.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

Cell PerCall(int64_t ns, uint64_t calls) {
  return calls == 0 ? Cell{}
                    : NanosecondsCell(static_cast<double>(ns) / static_cast<double>(calls));
}

Columns<PythonFunctionCounts> CountedFunctionColumns(const Store& store) {
  using Row = PythonFunctionCounts;
  return {
      {CountColumn("calls", "ncalls",
                   "Calls; each resumption of a generator or coroutine is one, as in cProfile"),
       [](const Row& row) { return NumberCell(row.counts.calls); }},
      {CountColumn("primitive_calls", "pcalls", "Calls that were not made by recursion"),
       [](const Row& row) { return NumberCell(row.counts.primitive_calls); }},
      {CountColumn("resumptions", "resumed",
                   "Of the calls, those that went on with a generator or coroutine"),
       [](const Row& row) { return NumberCell(row.resumptions); }},
      {TimeColumn("self_time", "tottime", "In the function itself, without what it calls"),
       [](const Row& row) { return row.counts.self_ns; }},
      {TimeColumn("self_time_per_call", "percall", "tottime by ncalls"),
       [](const Row& row) { return PerCall(row.counts.self_ns, row.counts.calls); }},
      {TimeColumn("total_time", "cumtime", "With all that it calls"),
       [](const Row& row) { return row.counts.total_ns; }},
      {TimeColumn("total_time_per_call", "cumpercall", "cumtime by pcalls"),
       [](const Row& row) { return PerCall(row.counts.total_ns, row.counts.primitive_calls); }},
      {TextColumn("function", "filename:lineno(function)", "The function and where it stands"),
       [&store](const Row& row) {
         return PythonLabel(store.Text(row.file), row.first_line, store.Text(row.name));
       }},
      {TextColumn("counted", "Counted",
                  "\"thinned\": it was called so often and takes so little that it was counted no "
                  "further (--python-thin)"),
       [](const Row& row) { return std::string(row.thinned ? "thinned" : "all"); }},
  };
}

struct CountedLine {
  const PythonTimedFunction& function;
  const PythonLineCounts& line;
  const LineRow* work = nullptr;  // what its operators did; none: it called none
};

Columns<CountedLine> CountedLineColumns(const Store& store) {
  using Row = CountedLine;
  const auto ran = [](const Row& row) { return row.line.hits > 0; };
  return {
      {TextColumn("function", "Function", "The function and where it stands"),
       [&store](const Row& row) {
         const PythonTimedFunction& function = row.function;
         return PythonLabel(store.Text(function.file), function.first_line,
                            store.Text(function.name));
       }},
      {CountColumn("line", "Line #", "Line of the file"),
       [](const Row& row) { return int64_t{row.line.line}; }},
      {CountColumn("hits", "Hits", "How often the line began"),
       [ran](const Row& row) { return ran(row) ? NumberCell(row.line.hits) : Cell{}; }},
      {TimeColumn("time", "Time",
                  "From its begin until the function's next line began, or it returned or yielded"),
       [ran](const Row& row) { return ran(row) ? Cell{row.line.time_ns} : Cell{}; }},
      {TimeColumn("time_per_hit", "Per Hit", "Time by Hits"),
       [](const Row& row) { return PerCall(row.line.time_ns, row.line.hits); }},
      {PercentColumn("share", "% Time", "Share of the function's time"),
       [ran](const Row& row) {
         const auto total = static_cast<double>(row.function.total_ns);
         return ran(row) && total > 0 ? Cell{100 * static_cast<double>(row.line.time_ns) / total}
                                      : Cell{};
       }},
      {TextColumn("text", "Line Contents", "The line's source, as it was when it ran"),
       [](const Row& row) { return std::string(row.line.text); }},
  };
}

// The columns of memory_profiler, and what was allocated in all.
Columns<CountedLine> LineMemoryColumns() {
  using Row = CountedLine;
  return {
      {BytesColumn("memory", "Mem usage",
                   "Most of the process that was in RAM when the line ended; looked at after lines "
                   "that allocate or free 64 KB or take 1 ms"),
       [](const Row& row) {
         return row.line.memory_bytes > 0 ? NumberCell(row.line.memory_bytes) : Cell{};
       }},
      {BytesColumn("increment", "Increment", "Allocated minus freed by the thread, over all hits"),
       [](const Row& row) { return row.line.hits > 0 ? Cell{row.line.grown_bytes} : Cell{}; }},
      {BytesColumn("allocated", "Allocated", "By the thread meanwhile, freed again or not"),
       [](const Row& row) {
         return row.line.hits > 0 ? NumberCell(row.line.allocated_bytes) : Cell{};
       }},
  };
}

// Those of `table lines`, beside the exact time of the same line.
Columns<CountedLine> LineWorkColumns(bool gpu) {
  using Row = CountedLine;
  const auto time = [](auto&& ns_of) {
    return
        [ns_of](const Row& row) { return row.work == nullptr ? Cell{} : Cell{ns_of(*row.work)}; };
  };
  Columns<Row> columns;
  if (gpu) {
    columns = {
        {TimeColumn("gpu", "GPU", "Kernels, copies and sets of the operators it called"),
         time([](const LineRow& work) { return work.gpu_ns(); })},
        {TimeColumn("gpu_forward", "GPU Forward", "Of the operators that the line called"),
         time([](const LineRow& work) { return work.gpu_forward_ns; })},
        {TimeColumn("gpu_backward", "GPU Backward", "Of the functions that differentiate them"),
         time([](const LineRow& work) { return work.gpu_backward_ns; })}};
  }
  columns.push_back({TimeColumn("cpu_backward", "CPU Backward",
                                "Of the functions that differentiate its operators"),
                     time([](const LineRow& work) { return work.cpu_backward_ns; })});
  return columns;
}

// By file and line. Of a line that has several rows (one that steps an optimizer, too), their sum.
std::map<std::pair<StringId, uint32_t>, LineRow> WorkOfLines(const RunOverview& overview) {
  std::map<std::pair<StringId, uint32_t>, LineRow> work;
  for (const LineRow& row : overview.lines.rows) {
    if (row.frame.IsNone()) continue;
    const LineKey key = KeyOfLine(*overview.store, row.kind, row.frame);
    LineRow& sum = work[{key.file, key.line}];
    for (const auto ns :
         {&LineRow::cpu_forward_ns, &LineRow::cpu_backward_ns, &LineRow::cpu_recompute_ns,
          &LineRow::gpu_forward_ns, &LineRow::gpu_backward_ns, &LineRow::gpu_recompute_ns}) {
      sum.*ns += row.*ns;
    }
  }
  return work;
}

}  // namespace

ResultTable MakePythonFunctionsTable(const RunOverview& overview) {
  return TableOf("python_functions", "Python functions, exactly",
                 CountedFunctionColumns(*overview.store), CountPythonFunctions(*overview.store));
}

ResultTable MakePythonLinesTable(const RunOverview& overview) {
  const std::vector<PythonTimedFunction> functions = CountPythonLines(*overview.store);
  Columns<CountedLine> columns = CountedLineColumns(*overview.store);
  if (std::any_of(functions.begin(), functions.end(),
                  [](const PythonTimedFunction& function) { return function.has_memory; })) {
    Append(columns, LineMemoryColumns());
  }
  const auto work = WorkOfLines(overview);
  if (!work.empty()) Append(columns, LineWorkColumns(overview.lines.gpu_ns != 0));
  ResultTable table = EmptyTable("python_lines", "Python lines, exactly", columns);
  for (const PythonTimedFunction& function : functions) {
    for (const PythonLineCounts& line : function.lines) {
      const auto of_line = work.find({function.file, line.line});
      AddRow(table, columns, {function, line, of_line == work.end() ? nullptr : &of_line->second});
    }
  }
  return table;
}

}  // namespace batchlight
