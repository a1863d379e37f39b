// What Python code threads were in, by samples from outside: by function and by line.
#include <string>

#include "analysis/numbers/percent.h"
#include "analysis/python/sampled_code.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/cpu_tables.h"

namespace batchlight {
namespace {

struct PythonCodeRow {
  const Store& store;
  SampledCode code;
  int64_t all_cpu_ns;  // of all samples
};

using Row = PythonCodeRow;

// `place`: how the line is called and what it is.
Columns<Row> SampledColumns(ResultColumn place) {
  return {{TextColumn("function", "Function", "Qualified name; before Python 3.11 its last part"),
           [](const Row& row) { return std::string(row.store.Text(row.code.function)); }},
          {TimeColumn("self_cpu", "Self CPU", "Processor time of the threads found in it"),
           [](const Row& row) { return Cell{row.code.self_cpu_ns}; }},
          {PercentColumn("self_cpu_share", "Self CPU %", "Of the processor time of all samples"),
           [](const Row& row) { return Cell{PercentOf(row.code.self_cpu_ns, row.all_cpu_ns)}; }},
          {TimeColumn("self", "Self",
                      "Time that threads were in it, running or waiting, summed over threads"),
           [](const Row& row) { return Cell{row.code.self_ns}; }},
          {TimeColumn("total_cpu", "Total CPU", "With what it called; recursion counts once"),
           [](const Row& row) { return Cell{row.code.total_cpu_ns}; }},
          {TimeColumn("total", "Total", "With what it called; recursion counts once"),
           [](const Row& row) { return Cell{row.code.total_ns}; }},
          {CountColumn("samples", "Samples", "In which it was innermost"),
           [](const Row& row) { return NumberCell(row.code.samples); }},
          {CountColumn("threads", "Threads", "In which it was innermost"),
           [](const Row& row) { return NumberCell(row.code.threads); }},
          {TextColumn("file", "File", "As Python names it"),
           [](const Row& row) { return std::string(row.store.Text(row.code.file)); }},
          {std::move(place), [](const Row& row) { return NumberCell(uint64_t{row.code.line}); }}};
}

ResultTable SampledTable(const Store& store, std::string name, std::string title,
                         const Columns<Row>& columns, const std::vector<SampledCode>& codes) {
  ResultTable table = EmptyTable(std::move(name), std::move(title), columns);
  int64_t all_cpu_ns = 0;
  for (const int64_t ns : store.python_samples.cpu_ns) all_cpu_ns += ns;
  for (const SampledCode& code : codes) AddRow(table, columns, Row{store, code, all_cpu_ns});
  return table;
}

}  // namespace

ResultTable MakePythonSamplesTable(const RunOverview& overview) {
  return SampledTable(*overview.store, "python_samples", "Python functions, by samples",
                      SampledColumns(CountColumn("line", "Line", "Its first")),
                      SumSamplesByPythonFunction(*overview.store));
}

ResultTable MakePythonSampleLinesTable(const RunOverview& overview) {
  return SampledTable(*overview.store, "python_sample_lines", "Lines of Python, by samples",
                      SampledColumns(CountColumn("line", "Line", "That the frame had reached")),
                      SumSamplesByPythonLine(*overview.store));
}

}  // namespace batchlight
