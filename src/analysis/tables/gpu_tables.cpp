// The tables of the GPU's side; declared in overview_tables.h.
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

std::string_view TensorCoreText(TensorCoreUse use) {
  switch (use) {
    case TensorCoreUse::kYes:
      return "yes";
    case TensorCoreUse::kNo:
      return "no";
    case TensorCoreUse::kUnknown:
      break;
  }
  return "unknown";
}

Cell OperatorCell(const Store& store, OperatorCallId op) {
  if (op.IsNone()) return {};
  return std::string(store.Text(store.operator_calls.name[op.row()]));
}

Cell PidCell(const Store& store, ProcessId process) {
  return NumberCell(store.processes.pid[process.row()]);
}

std::string Dimensions(uint32_t x, uint32_t y, uint32_t z) {
  return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
}

void AddLaunchCells(const Store& store, const KernelRow& row, std::vector<Cell>& cells) {
  const KernelLaunchesTable& launches = store.kernel_launches;
  if (row.launch < launches.size()) {
    const size_t at = row.launch;
    cells.push_back(Dimensions(launches.grid_x[at], launches.grid_y[at], launches.grid_z[at]));
    cells.push_back(Dimensions(launches.block_x[at], launches.block_y[at], launches.block_z[at]));
    cells.push_back(NumberCell(launches.registers_per_thread[at]));
  } else {
    cells.resize(cells.size() + 3);
  }
  std::string streams;
  for (const uint32_t stream : row.streams) {
    streams += (streams.empty() ? "" : ", ") + std::to_string(stream);
  }
  cells.push_back(std::move(streams));
}

}  // namespace

ResultTable MakeGpuPartsTable(const RunOverview& overview) {
  ResultTable table{.name = "gpu_parts", .title = "What a step is made of on the GPU"};
  table.columns = {CountColumn("PID", "Process"),
                   CountColumn("Device", "CUDA ordinal"),
                   TextColumn("Part", ""),
                   PercentColumn("Share", "Of the windows of the steps that count"),
                   TimeColumn("Median", "Per step"),
                   TimeColumn("P5", "Per step"),
                   TimeColumn("P95", "Per step"),
                   TimeColumn("Total", "Over the steps that count"),
                   TextColumn("Meaning", "")};
  for (const GpuBreakdown& gpu : overview.gpu.breakdowns) {
    for (size_t i = 0; i < kGpuPartCount; ++i) {
      const Sample& sample = gpu.steady[i];
      if (sample.total == 0) continue;
      const GpuPart part = static_cast<GpuPart>(i);
      table.rows.push_back({PidCell(*overview.store, gpu.process), int64_t{gpu.device},
                            std::string(GpuPartName(part)), gpu.share[i] * 100, sample.median,
                            sample.p5, sample.p95, sample.total, std::string(GpuPartHelp(part))});
    }
  }
  return table;
}

ResultTable MakeGpuStepsTable(const RunOverview& overview) {
  ResultTable table{.name = "gpu_steps", .title = "Steps on the GPU"};
  table.columns = {CountColumn("PID", "Process"), CountColumn("Device", "CUDA ordinal"),
                   CountColumn("Step", "Number of the step"),
                   TimeColumn("Start", "First work of the step on the GPU"),
                   TimeColumn("Window", "To the first work of the next step")};
  for (size_t i = 0; i < kGpuPartCount; ++i) {
    const GpuPart part = static_cast<GpuPart>(i);
    table.columns.push_back(
        TimeColumn(std::string(GpuPartName(part)), std::string(GpuPartHelp(part))));
  }
  for (const GpuBreakdown& gpu : overview.gpu.breakdowns) {
    const ProcessSteps* steps = overview.steps.Of(gpu.process);
    for (size_t i = 0; i < gpu.steps.size(); ++i) {
      const GpuStepParts& step = gpu.steps[i];
      std::vector<Cell> row = {PidCell(*overview.store, gpu.process), int64_t{gpu.device},
                               steps->steps[i].number, step.start_ns, step.duration_ns()};
      for (const int64_t part_ns : step.part_ns) row.push_back(part_ns);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

ResultTable MakeKernelsTable(const RunOverview& overview) {
  ResultTable table{.name = "kernels", .title = "Kernels"};
  table.columns = {TextColumn("Kernel", "Demangled name"),
                   TextColumn("Kind", "By the kernel's name"),
                   TextColumn("Tensor Cores", "By the kernel's name"),
                   TextColumn("Rule", "Which name rule decided kind and Tensor Cores"),
                   CountColumn("Calls", "In the whole run"),
                   TimeColumn("Total", ""),
                   PercentColumn("Share", "Of all kernel time"),
                   TimeColumn("Average", ""),
                   TimeColumn("Min", ""),
                   TimeColumn("Max", ""),
                   RealColumn("Calls per Step", "Mean over the steps that count"),
                   TimeColumn("Time per Step", "Mean over the steps that count"),
                   PercentColumn("Occupancy", "Theoretical, of its most frequent launch"),
                   TextColumn("Limited By", "What keeps the occupancy below 100 %"),
                   RealColumn("Waves", "Grid / blocks that fit on the GPU at once"),
                   TextColumn("Operator", "An operator that launched it"),
                   TextColumn("Grid", "Blocks, of its most frequent launch"),
                   TextColumn("Block", "Threads, of its most frequent launch"),
                   CountColumn("Registers", "Per thread, of its most frequent launch"),
                   TextColumn("Streams", "On which it ran")};
  for (const KernelRow& row : overview.gpu.kernels) {
    const Occupancy& occupancy = row.occupancy;
    const bool known = occupancy.blocks_per_sm > 0;
    table.rows.push_back(
        {std::string(overview.store->Text(row.name)), std::string(KernelKindName(row.kind.kind)),
         std::string(TensorCoreText(row.kind.tensor_core)), std::string(row.kind.rule_id),
         NumberCell(row.calls), row.total_ns, row.share * 100, NanosecondsCell(row.average_ns()),
         row.min_ns, row.max_ns, row.calls_per_step, NanosecondsCell(row.per_step_ns),
         known ? Cell{occupancy.fraction * 100} : Cell{}, std::string(occupancy.limiter),
         known ? Cell{occupancy.waves} : Cell{}, OperatorCell(*overview.store, row.owner)});
    AddLaunchCells(*overview.store, row, table.rows.back());
  }
  return table;
}

ResultTable MakeCopiesTable(const RunOverview& overview) {
  ResultTable table{.name = "copies", .title = "Copies"};
  table.columns = {TextColumn("Kind", ""),
                   TextColumn("From", "Kind of memory"),
                   TextColumn("To", "Kind of memory"),
                   CountColumn("Calls", "In the whole run"),
                   BytesColumn("Bytes", "In the whole run"),
                   TimeColumn("Total", "Time on the GPU"),
                   RealColumn("GB/s", "Bytes / time, 10^9 bytes"),
                   RealColumn("Calls per Step", "Mean over the steps that count"),
                   BytesColumn("Bytes per Step", "Mean over the steps that count")};
  for (const CopyRow& row : overview.gpu.copies) {
    table.rows.push_back({std::string(Label(row.kind)), LabelInSentence(row.source),
                          LabelInSentence(row.destination), NumberCell(row.calls),
                          NumberCell(row.bytes), row.total_ns, row.bytes_per_second() / 1e9,
                          row.calls_per_step, NanosecondsCell(row.bytes_per_step)});
  }
  return table;
}

ResultTable MakeWaitsTable(const RunOverview& overview) {
  ResultTable table{.name = "waits", .title = "Where the CPU waits for the GPU"};
  table.columns = {TextColumn("Call", ""),
                   TextColumn("Operator", "Around the call; aten::_local_scalar_dense is .item()"),
                   CountColumn("Calls", "In the whole run"),
                   TimeColumn("Total", "In the whole run"),
                   RealColumn("Calls per Step", "Mean over the steps that count"),
                   TimeColumn("Time per Step", "Mean over the steps that count")};
  for (const WaitRow& row : overview.gpu.waits) {
    table.rows.push_back({std::string(overview.store->Text(row.call)),
                          std::string(overview.store->Text(row.operator_name)),
                          NumberCell(row.calls), row.total_ns, row.calls_per_step,
                          NanosecondsCell(row.per_step_ns)});
  }
  return table;
}

}  // namespace batchlight
