// The tables of torch.profiler's key_averages(): its columns, from our operators. "CUDA" is the
// time of work on the GPU that was launched, as PyTorch has it.
#include "analysis/overview_tables.h"
#include "analysis/result_column.h"

namespace batchlight {
namespace {

double Percent(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : 100.0 * double(part) / double(whole);
}

ResultTable KeyAverages(const RunOverview& overview, const std::vector<OperatorRow>& rows,
                        bool shapes) {
  ResultTable table;
  const bool gpu = !overview.gpu.empty();
  table.columns = {TextColumn("Name", ""),
                   RealColumn("Self CPU %", "Of the self time of all operators"),
                   TimeColumn("Self CPU", "Without operators inside"),
                   RealColumn("CPU total %", "Of the self time of all operators"),
                   TimeColumn("CPU total", "With operators inside"),
                   TimeColumn("CPU time avg", "CPU total / calls")};
  if (gpu) {
    table.columns.insert(table.columns.end(),
                         {TimeColumn("Self CUDA", "Work on the GPU that it launched itself"),
                          RealColumn("Self CUDA %", "Of all work that operators launched"),
                          TimeColumn("CUDA total", "With the work of operators inside"),
                          TimeColumn("CUDA time avg", "CUDA total / calls")});
  }
  table.columns.push_back(CountColumn("# of Calls", ""));
  if (shapes) table.columns.push_back(TextColumn("Input Shapes", ""));
  int64_t gpu_ns = 0;
  for (const OperatorRow& row : rows) gpu_ns += row.gpu_ns;
  for (const OperatorRow& row : rows) {
    std::vector<Cell> cells = {std::string(overview.store->Text(row.name)),
                               Percent(row.self_ns, overview.operators.self_ns),
                               row.self_ns,
                               Percent(row.total_ns, overview.operators.self_ns),
                               row.total_ns,
                               NanosecondsCell(row.average_ns())};
    if (gpu) {
      cells.insert(cells.end(),
                   {Cell{row.gpu_ns}, Cell{Percent(row.gpu_ns, gpu_ns)}, Cell{row.gpu_total_ns},
                    NanosecondsCell(double(row.gpu_total_ns) / double(row.calls))});
    }
    cells.push_back(NumberCell(row.calls));
    if (shapes) cells.push_back(std::string(overview.store->Text(row.shapes)));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

ResultTable MakeKeyAveragesTable(const RunOverview& overview) {
  ResultTable table = KeyAverages(overview, overview.operators.by_name, false);
  table.name = "key_averages";
  table.title = "key_averages()";
  return table;
}

ResultTable MakeKeyAveragesByShapeTable(const RunOverview& overview) {
  ResultTable table = KeyAverages(overview, overview.operators.by_shape, true);
  table.name = "key_averages_by_shape";
  table.title = "key_averages(group_by_input_shape=True)";
  return table;
}

}  // namespace batchlight
