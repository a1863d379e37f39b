// The tables of torch.profiler's key_averages(): its rows and columns.
#include <algorithm>
#include <map>

#include "analysis/memory/operator_memory.h"
#include "analysis/numbers/percent.h"
#include "analysis/owners/function_averages.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

// FLOPs of all calls of an operator, by name and shapes (None: of all shapes).
std::map<std::pair<StringId, StringId>, double> FlopsOfOperators(const RunOverview& overview) {
  const OperatorCallsTable& calls = overview.store->operator_calls;
  std::map<std::pair<StringId, StringId>, double> flops;
  if (overview.roofline.rows.empty()) return flops;
  // Inputs are shapes with types: calls of the same inputs have the same shapes.
  std::vector<StringId> shapes_of_inputs(overview.store->strings.size());
  for (size_t call = 0; call < calls.size(); ++call) {
    if (!calls.inputs[call].IsNone())
      shapes_of_inputs[calls.inputs[call].row()] = calls.shapes[call];
  }
  for (const RooflineRow& row : overview.roofline.rows) {
    const StringId shapes = row.inputs.IsNone() ? StringId{} : shapes_of_inputs[row.inputs.row()];
    flops[{row.name, StringId::None()}] += row.flops * double(row.calls);
    if (!shapes.IsNone()) flops[{row.name, shapes}] += row.flops * double(row.calls);
  }
  return flops;
}

Columns<FunctionAverage> AverageColumns(const std::vector<FunctionAverage>& rows, bool gpu) {
  int64_t self_ns = 0;
  int64_t gpu_ns = 0;
  for (const FunctionAverage& row : rows) {
    self_ns += row.cpu_self_ns;
    if (row.on_gpu && !row.is_annotation) gpu_ns += row.gpu_self_ns;
  }
  Columns<FunctionAverage> columns = {
      {TextColumn("name", "Name", ""), &FunctionAverage::name},
      {RealColumn("self_cpu_percent", "Self CPU %", "Of the self time of all rows"),
       [self_ns](const FunctionAverage& row) { return PercentOf(row.cpu_self_ns, self_ns); }},
      {TimeColumn("self_cpu", "Self CPU", "Without operators and CUDA calls inside"),
       &FunctionAverage::cpu_self_ns},
      {RealColumn("cpu_total_percent", "CPU total %", "Of the self time of all rows"),
       [self_ns](const FunctionAverage& row) { return PercentOf(row.cpu_ns, self_ns); }},
      {TimeColumn("cpu_total", "CPU total", "With what is inside"), &FunctionAverage::cpu_ns},
      {TimeColumn("cpu_average", "CPU time avg", "CPU total / calls"),
       [](const FunctionAverage& row) {
         return NanosecondsCell(double(row.cpu_ns) / double(row.calls));
       }}};
  if (!gpu) return columns;
  Append<FunctionAverage>(
      columns,
      {{TimeColumn("self_cuda", "Self CUDA", "Work on the GPU: its own time, or launched by it"),
        &FunctionAverage::gpu_self_ns},
       {RealColumn("self_cuda_percent", "Self CUDA %", "Of all work on the GPU"),
        [gpu_ns](const FunctionAverage& row) { return PercentOf(row.gpu_self_ns, gpu_ns); }},
       {TimeColumn("cuda_total", "CUDA total", "With the work of operators inside"),
        &FunctionAverage::gpu_ns},
       {TimeColumn("cuda_average", "CUDA time avg", "CUDA total / calls"),
        [](const FunctionAverage& row) {
          return NanosecondsCell(double(row.gpu_ns) / double(row.calls));
        }}});
  return columns;
}

void AddMemoryColumns(const OperatorMemories& memory, Columns<FunctionAverage>& columns) {
  const auto of = [&memory](int64_t OperatorMemory::*bytes) {
    return [&memory, bytes](const FunctionAverage& row) {
      if (row.operator_name.IsNone()) return Cell{};
      return Cell{memory.Of(row.operator_name, row.shapes).*bytes};
    };
  };
  if (memory.has_cpu()) {
    Append<FunctionAverage>(
        columns,
        {{CountColumn("cpu_bytes", "CPU Mem (bytes)",
                      "Allocated minus released, with operators inside"),
          of(&OperatorMemory::cpu_bytes)},
         {CountColumn("self_cpu_bytes", "Self CPU Mem (bytes)", "Without operators inside"),
          of(&OperatorMemory::cpu_self_bytes)}});
  }
  if (memory.has_gpu()) {
    Append<FunctionAverage>(
        columns,
        {{CountColumn("cuda_bytes", "CUDA Mem (bytes)",
                      "Allocated minus released, with operators inside"),
          of(&OperatorMemory::gpu_bytes)},
         {CountColumn("self_cuda_bytes", "Self CUDA Mem (bytes)", "Without operators inside"),
          of(&OperatorMemory::gpu_self_bytes)}});
  }
}

ResultTable KeyAverages(const RunOverview& overview, bool shapes) {
  const FunctionAverages& averages = *overview.function_averages;
  const std::vector<FunctionAverage>& rows = shapes ? averages.by_shape() : averages.by_name();
  const bool gpu =
      std::any_of(rows.begin(), rows.end(), [](const FunctionAverage& row) { return row.on_gpu; });
  Columns<FunctionAverage> columns = AverageColumns(rows, gpu);
  const OperatorMemories memory(*overview.store, overview.steps);
  AddMemoryColumns(memory, columns);
  columns.push_back({CountColumn("calls", "# of Calls", ""), &FunctionAverage::calls});
  if (gpu) {
    columns.push_back(
        {TextColumn("device", "Device", "Where the row's own time is"),
         [](const FunctionAverage& row) { return std::string(row.on_gpu ? "CUDA" : "CPU"); }});
  }
  if (shapes) {
    columns.push_back(
        {TextColumn("shapes", "Input Shapes", ""), [&overview](const FunctionAverage& row) {
           return std::string(overview.store->Text(row.shapes));
         }});
  }
  const auto flops = FlopsOfOperators(overview);
  if (!flops.empty()) {
    columns.push_back({CountColumn("flops", "Total FLOPs", "Of all calls; empty: no formula"),
                       [&flops](const FunctionAverage& row) {
                         const auto found = flops.find({row.operator_name, row.shapes});
                         return found == flops.end() ? Cell{} : Cell{std::llround(found->second)};
                       }});
  }
  return shapes ? TableOf("key_averages_by_shape", "key_averages(group_by_input_shape=True)",
                          columns, rows)
                : TableOf("key_averages", "key_averages()", columns, rows);
}

}  // namespace

ResultTable MakeKeyAveragesTable(const RunOverview& overview) {
  return KeyAverages(overview, false);
}

ResultTable MakeKeyAveragesByShapeTable(const RunOverview& overview) {
  return KeyAverages(overview, true);
}

}  // namespace batchlight
