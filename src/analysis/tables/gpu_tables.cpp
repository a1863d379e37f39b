// The tables of the GPU's side; declared in overview_tables.h.
#include "analysis/result/percentile_cell.h"
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

std::string StreamsText(const KernelRow& row) {
  std::string streams;
  for (const uint32_t stream : row.streams) {
    streams += (streams.empty() ? "" : ", ") + std::to_string(stream);
  }
  return streams;
}

// A cell of the most frequent launch; none where that is not known.
template <typename Value>
auto OfLaunch(const Store& store, Value value) {
  return [&launches = store.kernel_launches, value](const KernelRow& row) -> Cell {
    const size_t at = row.launch.row();
    return at < launches.size() ? Cell{value(launches, at)} : Cell{};
  };
}

// A cell of the occupancy; none where that is not known.
template <typename Value>
auto OfOccupancy(Value value) {
  return [value](const KernelRow& row) {
    return row.occupancy.blocks_per_sm > 0 ? Cell{value(row.occupancy)} : Cell{};
  };
}

struct PartOfGpu {
  const Store& store;
  const GpuBreakdown& gpu;
  GpuPart part;

  const Sample& sample() const { return gpu.steady[static_cast<size_t>(part)]; }
};

const Columns<PartOfGpu>& PartColumns() {
  using Row = PartOfGpu;
  static const Columns<Row> columns = {
      {CountColumn("pid", "PID", "Process"),
       [](const Row& row) { return PidCell(row.store, row.gpu.process); }},
      {CountColumn("device", "Device", "CUDA ordinal"),
       [](const Row& row) { return int64_t{row.gpu.device}; }},
      {TextColumn("part", "Part", ""),
       [](const Row& row) { return std::string(GpuPartName(row.part)); }},
      {PercentColumn("share", "Share", "Of the windows of the steps that count"),
       [](const Row& row) { return row.gpu.share[static_cast<size_t>(row.part)] * 100; }},
      {TimeColumn("mean", "Mean", "Per step; the share is the mean's of the mean window"),
       [](const Row& row) { return NanosecondsCell(row.sample().mean); }},
      {TimeColumn("median", "Median", "Per step"),
       [](const Row& row) { return row.sample().median; }},
      {TimeColumn("p5", "P5", "Per step; empty below five steps"),
       [](const Row& row) { return PercentileCell(row.sample(), &Sample::p5); }},
      {TimeColumn("p95", "P95", "Per step; empty below five steps"),
       [](const Row& row) { return PercentileCell(row.sample(), &Sample::p95); }},
      {TimeColumn("total", "Total", "Over the steps that count"),
       [](const Row& row) { return row.sample().total; }},
      {TextColumn("meaning", "Meaning", ""),
       [](const Row& row) { return std::string(GpuPartHelp(row.part)); }}};
  return columns;
}

struct StepOfGpu {
  const Store& store;
  const GpuBreakdown& gpu;
  int64_t number;
  const GpuStepParts& step;
};

Columns<StepOfGpu> GpuStepColumns() {
  using Row = StepOfGpu;
  Columns<Row> columns = {{CountColumn("pid", "PID", "Process"),
                           [](const Row& row) { return PidCell(row.store, row.gpu.process); }},
                          {CountColumn("device", "Device", "CUDA ordinal"),
                           [](const Row& row) { return int64_t{row.gpu.device}; }},
                          {CountColumn("step", "Step", "Number of the step"), &Row::number},
                          {TimeColumn("start", "Start", "First work of the step on the GPU"),
                           [](const Row& row) { return row.step.start_ns; }},
                          {TimeColumn("window", "Window", "To the first work of the next step"),
                           [](const Row& row) { return row.step.duration_ns(); }}};
  for (size_t i = 0; i < kGpuPartCount; ++i) {
    const GpuPart part = static_cast<GpuPart>(i);
    columns.push_back({TimeColumn(std::string(GpuPartKey(part)), std::string(GpuPartName(part)),
                                  std::string(GpuPartHelp(part))),
                       [i](const Row& row) { return row.step.part_ns[i]; }});
  }
  return columns;
}

Columns<KernelRow> KernelColumns(const Store& store) {
  using Row = KernelRow;
  return {{TextColumn("name", "Kernel", "Demangled name"),
           [&store](const Row& row) { return std::string(store.Text(row.name)); }},
          {TextColumn("kind", "Kind", "By the kernel's name"),
           [](const Row& row) { return std::string(KernelKindName(row.kind.kind)); }},
          {TextColumn("tensor_cores", "Tensor Cores", "By the kernel's name"),
           [](const Row& row) { return std::string(TensorCoreText(row.kind.tensor_core)); }},
          {TextColumn("rule", "Rule", "Which name rule decided kind and Tensor Cores"),
           [](const Row& row) { return std::string(row.kind.rule_id); }},
          {OfWholeRun(CountColumn("calls", "Calls", "In the whole run")), Number(&Row::calls)},
          {OfWholeRun(TimeColumn("total", "Total", "In the whole run")), &Row::total_ns},
          {PercentColumn("share", "Share",
                         "Of all GPU time (kernels, copies, sets, graphs) of the steps that count; "
                         "without steps of the run"),
           Percent(&Row::share)},
          {TimeColumn("average", "Average", "Of a call in the steps that count; in none, of all"),
           [](const Row& row) { return NanosecondsCell(row.average_ns()); }},
          {OfWholeRun(TimeColumn("min", "Min", "In the whole run")), &Row::min_ns},
          {OfWholeRun(TimeColumn("max", "Max", "In the whole run")), &Row::max_ns},
          {RealColumn("calls_per_step", "Calls per Step", "Mean over the steps that count"),
           &Row::calls_per_step},
          {TimeColumn("time_per_step", "Time per Step", "Mean over the steps that count"),
           Nanoseconds(&Row::per_step_ns)},
          {PercentColumn("occupancy", "Occupancy", "Theoretical, of its most frequent launch"),
           OfOccupancy([](const Occupancy& occupancy) { return occupancy.fraction * 100; })},
          {TextColumn("limited_by", "Limited By", "What keeps the occupancy below 100 %"),
           [](const Row& row) { return std::string(row.occupancy.limiter); }},
          {RealColumn("waves", "Waves", "Grid / blocks that fit on the GPU at once"),
           OfOccupancy([](const Occupancy& occupancy) { return occupancy.waves; })},
          {TextColumn("operator", "Operator", "An operator that launched it"),
           [&store](const Row& row) { return OperatorCell(store, row.owner); }},
          {TextColumn("grid", "Grid", "Blocks, of its most frequent launch"),
           OfLaunch(store,
                    [](const KernelLaunchesTable& all, size_t at) {
                      return Dimensions(all.grid_x[at], all.grid_y[at], all.grid_z[at]);
                    })},
          {TextColumn("block", "Block", "Threads, of its most frequent launch"),
           OfLaunch(store,
                    [](const KernelLaunchesTable& all, size_t at) {
                      return Dimensions(all.block_x[at], all.block_y[at], all.block_z[at]);
                    })},
          {CountColumn("registers", "Registers", "Per thread, of its most frequent launch"),
           OfLaunch(store, [](const KernelLaunchesTable& all,
                              size_t at) { return NumberCell(all.registers_per_thread[at]); })},
          {TextColumn("streams", "Streams", "On which it ran"), StreamsText}};
}

const Columns<CopyRow>& CopyColumns() {
  using Row = CopyRow;
  static const Columns<Row> columns = {
      {TextColumn("kind", "Kind", ""), [](const Row& row) { return std::string(Label(row.kind)); }},
      {TextColumn("from", "From", "Kind of memory"),
       [](const Row& row) { return LabelInSentence(row.source); }},
      {TextColumn("to", "To", "Kind of memory"),
       [](const Row& row) { return LabelInSentence(row.destination); }},
      {OfWholeRun(CountColumn("calls", "Calls", "In the whole run")), Number(&Row::calls)},
      {OfWholeRun(BytesColumn("bytes", "Bytes", "In the whole run")), Number(&Row::bytes)},
      {OfWholeRun(TimeColumn("total", "Total", "Time on the GPU in the whole run")),
       &Row::total_ns},
      {OfWholeRun(RealColumn("gbps", "GB/s", "Bytes / time, 10^9 bytes")),
       [](const Row& row) { return row.bytes_per_second() / 1e9; }},
      {RealColumn("calls_per_step", "Calls per Step", "Mean over the steps that count"),
       &Row::calls_per_step},
      {BytesColumn("bytes_per_step", "Bytes per Step", "Mean over the steps that count"),
       Nanoseconds(&Row::bytes_per_step)},
      {TimeColumn("time_per_step", "Time per Step", "Mean over the steps that count"),
       Nanoseconds(&Row::per_step_ns)}};
  return columns;
}

Columns<WaitRow> WaitColumns(const Store& store) {
  using Row = WaitRow;
  return {
      {TextColumn("call", "Call", ""),
       [&store](const Row& row) { return std::string(store.Text(row.call)); }},
      {TextColumn("operator", "Operator", "Around the call; aten::_local_scalar_dense is .item()"),
       [&store](const Row& row) { return std::string(store.Text(row.operator_name)); }},
      {OfWholeRun(CountColumn("calls", "Calls", "In the whole run")), Number(&Row::calls)},
      {OfWholeRun(TimeColumn("total", "Total", "In the whole run")), &Row::total_ns},
      {RealColumn("calls_per_step", "Calls per Step", "Mean over the steps that count"),
       &Row::calls_per_step},
      {TimeColumn("time_per_step", "Time per Step", "Mean over the steps that count"),
       Nanoseconds(&Row::per_step_ns)}};
}

}  // namespace

ResultTable MakeGpuPartsTable(const RunOverview& overview) {
  ResultTable table = EmptyTable("gpu_parts", "What a step is made of on the GPU", PartColumns());
  for (const GpuBreakdown& gpu : overview.gpu.breakdowns) {
    for (size_t i = 0; i < kGpuPartCount; ++i) {
      if (gpu.steady[i].total == 0) continue;
      AddRow(table, PartColumns(), {*overview.store, gpu, static_cast<GpuPart>(i)});
    }
  }
  return table;
}

ResultTable MakeGpuStepsTable(const RunOverview& overview) {
  const Columns<StepOfGpu> columns = GpuStepColumns();
  ResultTable table = EmptyTable("gpu_steps", "Steps on the GPU", columns);
  for (const GpuBreakdown& gpu : overview.gpu.breakdowns) {
    const ProcessSteps* steps = overview.steps.Of(gpu.process);
    for (size_t i = 0; i < gpu.steps.size(); ++i) {
      AddRow(table, columns, {*overview.store, gpu, steps->steps[i].number, gpu.steps[i]});
    }
  }
  return table;
}

ResultTable MakeKernelsTable(const RunOverview& overview) {
  return TableOf("kernels", "Kernels", KernelColumns(*overview.store), overview.gpu.kernels);
}

ResultTable MakeCopiesTable(const RunOverview& overview) {
  return TableOf("copies", "Copies", CopyColumns(), overview.gpu.copies);
}

ResultTable MakeWaitsTable(const RunOverview& overview) {
  return TableOf("waits", "Where the CPU waits for the GPU", WaitColumns(*overview.store),
                 overview.gpu.waits);
}

}  // namespace batchlight
