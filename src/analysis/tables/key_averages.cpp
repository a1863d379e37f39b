// The tables of torch.profiler's key_averages(): its columns, from our operators. "CUDA" is the
// time of work on the GPU that was launched, as PyTorch has it.
#include <map>

#include "analysis/memory/operator_memory.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

double Percent(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : 100.0 * double(part) / double(whole);
}

// FLOPs of all calls of an operator, by name and shapes (None: of all shapes).
std::map<std::pair<StringId, StringId>, double> FlopsOfOperators(const RunOverview& overview) {
  const OperatorCallsTable& calls = overview.store->operator_calls;
  std::map<std::pair<StringId, StringId>, StringId> shapes_of_inputs;
  std::map<std::pair<StringId, StringId>, double> flops;
  if (overview.roofline.rows.empty()) return flops;
  for (size_t call = 0; call < calls.size(); ++call) {
    shapes_of_inputs.try_emplace({calls.name[call], calls.inputs[call]}, calls.shapes[call]);
  }
  for (const RooflineRow& row : overview.roofline.rows) {
    const StringId shapes = shapes_of_inputs[{row.name, row.inputs}];
    flops[{row.name, StringId::None()}] += row.flops * double(row.calls);
    if (!shapes.IsNone()) flops[{row.name, shapes}] += row.flops * double(row.calls);
  }
  return flops;
}

void AddMemoryColumns(const OperatorMemories& memory, ResultTable* table) {
  if (memory.has_cpu()) {
    table->columns.push_back(
        CountColumn("CPU Mem (bytes)", "Allocated minus released, with operators inside"));
    table->columns.push_back(CountColumn("Self CPU Mem (bytes)", "Without operators inside"));
  }
  if (memory.has_gpu()) {
    table->columns.push_back(
        CountColumn("CUDA Mem (bytes)", "Allocated minus released, with operators inside"));
    table->columns.push_back(CountColumn("Self CUDA Mem (bytes)", "Without operators inside"));
  }
}

void AddMemoryCells(const OperatorMemories& memory, const OperatorRow& row,
                    std::vector<Cell>* cells) {
  const OperatorMemory bytes = memory.Of(row.name, row.shapes);
  if (memory.has_cpu()) cells->insert(cells->end(), {bytes.cpu_bytes, bytes.cpu_self_bytes});
  if (memory.has_gpu()) cells->insert(cells->end(), {bytes.gpu_bytes, bytes.gpu_self_bytes});
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
  const OperatorMemories memory(*overview.store, overview.steps);
  AddMemoryColumns(memory, &table);
  table.columns.push_back(CountColumn("# of Calls", ""));
  if (shapes) table.columns.push_back(TextColumn("Input Shapes", ""));
  const auto flops = FlopsOfOperators(overview);
  if (!flops.empty()) {
    table.columns.push_back(CountColumn("Total FLOPs", "Of all calls; empty: no formula"));
  }
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
    AddMemoryCells(memory, row, &cells);
    cells.push_back(NumberCell(row.calls));
    if (shapes) cells.push_back(std::string(overview.store->Text(row.shapes)));
    if (!flops.empty()) {
      const auto found = flops.find({row.name, row.shapes});
      cells.push_back(found == flops.end() ? Cell{} : Cell{std::llround(found->second)});
    }
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
