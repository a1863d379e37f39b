#include "analysis/dlprof/reports.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "analysis/numbers/percent.h"
#include "analysis/result/result_column.h"

namespace batchlight::dlprof {
namespace {

constexpr const char* kOpIdHelp = "row of the op in the Detailed Report, from 0";
constexpr const char* kOpNameHelp = "module path and operator";
constexpr const char* kOpTypeHelp = "operator, module class or range";
constexpr const char* kCallsHelp = "calls that began in the aggregation range";

std::string YesNo(bool value) { return value ? "yes" : "no"; }

std::string Join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

ResultColumn OneDecimal(std::string name, std::string help) {
  return {.name = std::move(name), .type = CellType::kReal, .decimals = 1, .help = std::move(help)};
}

// Four columns for a Spread: Total CPU Time (ns), Avg ..., Min ..., Max ...
void AddSpreadColumns(ResultTable* table, const std::string& what, const std::string& help) {
  for (const char* kind : {"Total ", "Avg ", "Min ", "Max "}) {
    table->columns.push_back(TimeColumn(kind + what, help));
  }
}
void AddSpreadCells(std::vector<Cell>* row, const Spread& spread) {
  row->insert(row->end(), {spread.total_ns, NanosecondsCell(spread.average_ns()), spread.min_ns,
                           spread.max_ns});
}

void AddTimeColumns(ResultTable* table) {
  AddSpreadColumns(table, "CPU Time", "length of the calls");
  AddSpreadColumns(table, "GPU Time", "summed kernels, copies and sets launched inside");
  AddSpreadColumns(table, "CPU Overhead", "time inside CUDA API calls");
  AddSpreadColumns(table, "GPU Idle", "last end - first start of its work - GPU time");
}
void AddTimeCells(std::vector<Cell>* row, const Spread& cpu, const Spread& gpu,
                  const Spread& overhead, const Spread& idle) {
  for (const Spread* spread : {&cpu, &gpu, &overhead, &idle}) AddSpreadCells(row, *spread);
}

void Merge(Spread* into, const Spread& other) {
  if (other.count == 0) return;
  into->min_ns = into->count == 0 ? other.min_ns : std::min(into->min_ns, other.min_ns);
  into->max_ns = std::max(into->max_ns, other.max_ns);
  into->total_ns += other.total_ns;
  into->count += other.count;
}

ResultTable SummaryReport(const Store& store, const Model& model) {
  ResultTable table{.name = "summary", .title = "Summary Report"};
  table.columns = {TextColumn("Metric", "of the iterations in the aggregation range"),
                   TextColumn("Value", "in the unit that the metric names"),
                   TextColumn("Meaning", "what the metric counts")};
  const auto add = [&](std::string metric, std::string value, std::string meaning) {
    table.rows.push_back({std::move(metric), std::move(value), std::move(meaning)});
  };
  const auto percent = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", value);
    return std::string(text);
  };
  int64_t gpu_ns = 0, tensor_ns = 0, eligible_ns = 0, kernel_ns = 0, using_ns = 0;
  for (const OpNode& op : model.ops) {
    gpu_ns += op.gpu.total_ns;
    tensor_ns += op.tensor_core_ns;
    if (op.uses_tensor_cores) using_ns += op.gpu.total_ns;
    if (op.eligible) eligible_ns += op.gpu.total_ns;
  }
  kernel_ns = gpu_ns - model.memory_ns - model.graph_ns;
  const int64_t iterations = model.counted_iterations;
  add("Profiled Iterations", std::to_string(iterations),
      "iterations that the reports are about: those asked for, or all but warm-up and the like");
  add("Total Iterations", std::to_string(model.iterations.size()), "iterations found");
  add("Start Iteration", std::to_string(model.first_iteration), "the first of them, from 0");
  add("Stop Iteration", std::to_string(model.last_iteration), "the last of them");
  add("Wall Clock Time (ns)", std::to_string(model.range_ns), "summed length of the iterations");
  add("Average Iteration Time (ns)",
      std::to_string(model.range_ns / std::max<int64_t>(1, iterations)),
      "wall clock time / profiled iterations");
  add("GPU Utilization (%)", percent(PercentOf(model.gpu_busy_ns, model.range_ns)),
      "time with work on a GPU / wall clock time");
  add("GPU Idle (%)", percent(100 - std::min(100.0, PercentOf(model.gpu_busy_ns, model.range_ns))),
      "the rest");
  add("Total GPU Time (ns)", std::to_string(gpu_ns), "summed kernels, copies and sets");
  add("Using TC (ns)", std::to_string(tensor_ns), "kernels on Tensor Cores, by name");
  add("Not Using TC (ns)", std::to_string(std::max<int64_t>(0, kernel_ns - tensor_ns)),
      "other kernels");
  if (model.graph_ns > 0) {
    add("CUDA Graphs (ns)", std::to_string(model.graph_ns),
        "graphs recorded as a whole: which of their kernels use Tensor Cores is not known");
  }
  add("Memory (ns)", std::to_string(model.memory_ns), "copies and sets");
  add("Dataloader (ns)", std::to_string(model.data_loading_ns),
      "CPU time waiting for the DataLoader");
  add("TC Utilization (%)", percent(PercentOf(tensor_ns, eligible_ns)),
      "Tensor Core time / GPU time of eligible ops");
  add("Ops Using TC (ns)", std::to_string(using_ns),
      "GPU time of ops with a kernel on Tensor Cores");
  add("Eligible Ops Not Using TC (ns)", std::to_string(eligible_ns - using_ns),
      "GPU time of ops that Tensor Cores could run, and did not");
  add("Other Ops (ns)", std::to_string(gpu_ns - eligible_ns), "GPU time of the other ops");
  for (size_t row = 0; row < store.gpus.size(); ++row) {
    add("GPU " + std::to_string(store.gpus.device[row]),
        std::string(store.Text(store.gpus.name[row])), "name of the GPU");
  }
  return table;
}

ResultTable DetailedReport(const Store&, const Model& model) {
  ResultTable table{.name = "detailed", .title = "Detailed Report"};
  table.columns = {CountColumn("Op ID", kOpIdHelp),
                   TextColumn("Op Name", kOpNameHelp),
                   TextColumn("Op Type", kOpTypeHelp),
                   TextColumn("Direction", "fprop or bprop"),
                   CountColumn("No. Calls", kCallsHelp),
                   TextColumn("TC Eligible", "a matrix product, convolution or attention"),
                   TextColumn("Using TC", "one of its kernels runs on Tensor Cores, by name")};
  AddTimeColumns(&table);
  table.columns.push_back(TextColumn("Data Type", "of its first tensor input"));
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const OpNode& op = model.ops[i];
    std::vector<Cell> row = {static_cast<int64_t>(i),
                             op.name,
                             op.type,
                             op.direction,
                             NumberCell(op.cpu.count),
                             YesNo(op.eligible),
                             YesNo(op.uses_tensor_cores)};
    AddTimeCells(&row, op.cpu, op.gpu, op.overhead, op.idle);
    row.push_back(op.data_type);
    table.rows.push_back(std::move(row));
  }
  return table;
}

ResultTable KernelReport(const Store& store, const Model& model) {
  ResultTable table{.name = "kernel", .title = "Kernel Report"};
  table.columns = {TextColumn("Kernel Name", "demangled"),
                   TextColumn("Op Names", "ops that launch it"),
                   CountColumn("Count", "executions in the aggregation range"),
                   TextColumn("Uses TC", "by name")};
  AddSpreadColumns(&table, "GPU Time", "of the kernel");
  struct Row {
    Spread gpu;
    bool tensor_core = false;
    std::vector<std::string> ops;
  };
  std::map<std::string_view, Row> rows;
  for (const KernelInstance& kernel : model.kernels) {
    Row& row = rows[store.Text(store.kernels.demangled_name[kernel.kernel])];
    row.gpu.Add(store.kernels.end_ns[kernel.kernel] - store.kernels.start_ns[kernel.kernel]);
    row.tensor_core = kernel.tensor_core;
    const std::string& op = model.ops[kernel.op].name;
    if (std::find(row.ops.begin(), row.ops.end(), op) == row.ops.end()) row.ops.push_back(op);
  }
  for (const auto& [name, row] : rows) {
    std::vector<Cell> cells = {std::string(name), Join(row.ops), NumberCell(row.gpu.count),
                               YesNo(row.tensor_core)};
    AddSpreadCells(&cells, row.gpu);
    table.rows.push_back(std::move(cells));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return std::get<int64_t>(a[4]) > std::get<int64_t>(b[4]);
  });
  return table;
}

std::string Dimensions(uint32_t x, uint32_t y, uint32_t z) {
  return std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z);
}

ResultTable IterationReport(const Store& store, const Model& model) {
  ResultTable table{.name = "iteration", .title = "Iteration Report"};
  table.columns = {CountColumn("Iteration", "that the kernel's op began in, from 0"),
                   CountColumn("Op ID", kOpIdHelp),
                   TextColumn("Op Name", kOpNameHelp),
                   TextColumn("Op Type", kOpTypeHelp),
                   TimeColumn("API Call Start",
                              "of the call that launched it, since the start of "
                              "the session"),
                   TimeColumn("API Call Duration", "of that call"),
                   TextColumn("Kernel Name", "short"),
                   TextColumn("Long Kernel Name", "demangled"),
                   TextColumn("Uses TC", "by name"),
                   TimeColumn("Kernel Start", "on the GPU, since the start of the session"),
                   TimeColumn("Kernel Duration", "on the GPU"),
                   CountColumn("Device", "number of the GPU"),
                   TextColumn("Grid", "blocks: x, y, z"),
                   TextColumn("Block", "threads of a block: x, y, z")};
  for (const KernelInstance& instance : model.kernels) {
    const KernelsRow kernel = store.kernels.Row(instance.kernel);
    const OpNode& op = model.ops[instance.op];
    Cell call_start, call_duration;
    if (!kernel.api_call.IsNone()) {
      const ApiCallsRow call = store.api_calls.Row(kernel.api_call.row());
      call_start = call.start_ns;
      call_duration = call.end_ns - call.start_ns;
    }
    KernelLaunchesRow launch;
    if (kernel.launch.row() < store.kernel_launches.size())
      launch = store.kernel_launches.Row(kernel.launch.row());
    table.rows.push_back({int64_t{instance.iteration}, int64_t{instance.op}, op.name, op.type,
                          call_start, call_duration, std::string(store.Text(kernel.short_name)),
                          std::string(store.Text(kernel.demangled_name)),
                          YesNo(instance.tensor_core), kernel.start_ns,
                          kernel.end_ns - kernel.start_ns, int64_t{kernel.device},
                          Dimensions(launch.grid_x, launch.grid_y, launch.grid_z),
                          Dimensions(launch.block_x, launch.block_y, launch.block_z)});
  }
  return table;
}

ResultTable TensorCoreReport(const Store&, const Model& model) {
  ResultTable table{.name = "tensor_core", .title = "Tensor Core Report"};
  table.columns = {CountColumn("Op ID", kOpIdHelp),
                   TextColumn("Op Name", kOpNameHelp),
                   TextColumn("Op Type", kOpTypeHelp),
                   TextColumn("Uses TC", "by the names of its kernels"),
                   TimeColumn("Total GPU Time", "summed kernels, copies and sets"),
                   TimeColumn("TC GPU Time", "kernels on Tensor Cores"),
                   TimeColumn("Non-TC GPU Time", "the rest"),
                   OneDecimal("TC Utilization (%)", "TC GPU time / total GPU time"),
                   CountColumn("Total Kernel Count", "kernels that the op launched"),
                   CountColumn("TC Kernel Count", "of those, on Tensor Cores"),
                   TextColumn("TC Kernel Names", "each once"),
                   CountColumn("Non-TC Kernel Count", "the others"),
                   TextColumn("Non-TC Kernel Names", "each once")};
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const OpNode& op = model.ops[i];
    if (!op.eligible) continue;
    table.rows.push_back(
        {static_cast<int64_t>(i), op.name, op.type, YesNo(op.uses_tensor_cores), op.gpu.total_ns,
         op.tensor_core_ns, op.gpu.total_ns - op.tensor_core_ns,
         PercentOf(op.tensor_core_ns, op.gpu.total_ns), NumberCell(op.kernel_count),
         NumberCell(op.tensor_core_kernel_count), Join(op.tensor_core_kernels),
         NumberCell(op.kernel_count - op.tensor_core_kernel_count), Join(op.other_kernels)});
  }
  return table;
}

// Ops summed by a key: the op's type, or each prefix of its module path.
struct Group {
  uint64_t ops = 0, calls = 0, eligible = 0, using_tensor_cores = 0;
  Spread cpu, gpu, overhead, idle;
  std::string data_type;

  void Add(const OpNode& op) {
    ++ops;
    calls += op.cpu.count;
    eligible += op.eligible ? 1 : 0;
    using_tensor_cores += op.uses_tensor_cores ? 1 : 0;
    Merge(&cpu, op.cpu);
    Merge(&gpu, op.gpu);
    Merge(&overhead, op.overhead);
    Merge(&idle, op.idle);
    if (data_type.empty()) data_type = op.data_type;
  }
};

ResultTable OpTypeReport(const Store&, const Model& model) {
  ResultTable table{.name = "op_type", .title = "Op Type Report"};
  table.columns = {TextColumn("Op Type", kOpTypeHelp), CountColumn("No. Ops", "ops of that type"),
                   CountColumn("No. Calls", kCallsHelp)};
  AddTimeColumns(&table);
  std::map<std::string, Group> groups;
  for (const OpNode& op : model.ops) groups[op.type].Add(op);
  for (const auto& [type, group] : groups) {
    std::vector<Cell> row = {type, NumberCell(group.ops), NumberCell(group.calls)};
    AddTimeCells(&row, group.cpu, group.gpu, group.overhead, group.idle);
    table.rows.push_back(std::move(row));
  }
  return table;
}

ResultTable GroupNodeReport(const Store&, const Model& model) {
  ResultTable table{.name = "group_node", .title = "Group Node Report"};
  table.columns = {TextColumn("Group Node", "module path: the ops of all modules below it"),
                   CountColumn("No. Ops", "ops in those modules"),
                   CountColumn("No. Calls", kCallsHelp),
                   CountColumn("No. TC Eligible Ops", "ops that Tensor Cores could run"),
                   CountColumn("No. Ops Using TC", "ops with a kernel on Tensor Cores, by name")};
  AddTimeColumns(&table);
  table.columns.push_back(TextColumn("Data Type", "of its first op that has one"));
  std::map<std::string, Group> groups;
  for (const OpNode& op : model.ops) {
    for (size_t end = op.group.find('.'); !op.group.empty(); end = op.group.find('.', end + 1)) {
      groups[op.group.substr(0, end)].Add(op);
      if (end == std::string::npos) break;
    }
  }
  for (const auto& [name, group] : groups) {
    std::vector<Cell> row = {name, NumberCell(group.ops), NumberCell(group.calls),
                             NumberCell(group.eligible), NumberCell(group.using_tensor_cores)};
    AddTimeCells(&row, group.cpu, group.gpu, group.overhead, group.idle);
    row.push_back(group.data_type);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

const std::vector<ReportEntry>& Reports() {
  static const std::vector<ReportEntry> entries = {
      {"summary", "summary", SummaryReport},        {"detail", "detailed", DetailedReport},
      {"kernel", "kernel", KernelReport},           {"iteration", "iteration", IterationReport},
      {"tensor", "tensor_core", TensorCoreReport},  {"op_type", "op_type", OpTypeReport},
      {"group_node", "group_node", GroupNodeReport}};
  return entries;
}

}  // namespace batchlight::dlprof
