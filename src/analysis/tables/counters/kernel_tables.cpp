// Counters of single kernels as tables; declared in counter_tables.h.
#include <string>

#include "analysis/counters/kernel_figures.h"
#include "analysis/counters/metrics.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/counters/counter_tables.h"
#include "analysis/tables/counters/measured_roof_columns.h"

namespace batchlight {
namespace {

struct KernelLine {
  const Store& store;
  const KernelFigures& kernel;

  bool has_launch() const { return kernel.launch.row() < store.kernel_launches.size(); }
  KernelLaunchesRow launch() const { return store.kernel_launches.Row(kernel.launch.row()); }
};

Cell Share(const std::optional<double>& share) { return share ? Cell{*share * 100} : Cell{}; }
Cell Real(const std::optional<double>& number) { return number ? Cell{*number} : Cell{}; }
Cell Bytes(const std::optional<double>& bytes) { return bytes ? NanosecondsCell(*bytes) : Cell{}; }

Cell RankOfKernel(const KernelLine& line) {
  const ProcessId process = line.kernel.process;
  return process.IsNone() ? Cell{} : RankCell(line.store.processes.rank[process.row()]);
}

Cell NameOf(const KernelLine& line) {
  return std::string(line.kernel.is_graph ? "CUDA graph" : line.store.Text(line.kernel.name));
}

std::string Sizes(uint32_t x, uint32_t y, uint32_t z) {
  return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
}

Cell OperatorOfKernel(const KernelLine& line) {
  const OperatorCallId op = line.kernel.owner.op;
  return op.IsNone() ? Cell{}
                     : std::string(line.store.Text(line.store.operator_calls.name[op.row()]));
}

Cell InputsOfKernel(const KernelLine& line) {
  const OperatorCallId op = line.kernel.owner.op;
  if (op.IsNone()) return {};
  const OperatorCallsTable& calls = line.store.operator_calls;
  const std::string_view inputs = line.store.Text(calls.inputs[op.row()]);
  return std::string(inputs.empty() ? line.store.Text(calls.shapes[op.row()]) : inputs);
}

Cell ModuleOfKernel(const KernelLine& line) {
  const ModuleCallId module = line.kernel.owner.module;
  if (module.IsNone()) return {};
  return std::string(line.store.Text(line.store.module_calls.path[module.row()]));
}

Cell LineOfKernel(const KernelLine& line) { return LaunchLineText(line.store, line.kernel); }

auto OfLimit(GpuLimit limit) {
  return [limit](const KernelLine& line) { return Share(line.kernel.Use(limit)); };
}
template <typename Member>
auto ShareOf(Member member) {
  return [member](const KernelLine& line) { return Share(line.kernel.*member); };
}
template <typename Member>
auto RealOf(Member member) {
  return [member](const KernelLine& line) { return Real(line.kernel.*member); };
}
template <typename Member>
auto BytesOf(Member member) {
  return [member](const KernelLine& line) { return Bytes(line.kernel.*member); };
}
template <typename Value>
auto OfTheory(Value value) {
  return [value](const KernelLine& line) {
    return line.kernel.theoretical.blocks_per_sm > 0 ? Cell{value(line.kernel.theoretical)}
                                                     : Cell{};
  };
}
template <typename Value>
auto OfLaunch(Value value) {
  return [value](const KernelLine& line) {
    return line.has_launch() ? Cell{value(line.launch())} : Cell{};
  };
}

// What all of these tables begin with.
Columns<KernelLine> HeadColumns() {
  return {{TextColumn("kernel", "Kernel", "Demangled"), NameOf},
          {CountColumn("launches", "Launches", "In a step"),
           [](const KernelLine& line) { return NumberCell(line.kernel.launches); }},
          {TimeColumn("time", "Time", "Of one launch on the GPU, measured by itself"),
           [](const KernelLine& line) { return NanosecondsCell(line.kernel.time_ns); }}};
}

Columns<KernelLine> WhereColumns() {
  return {
      {TextColumn("operator", "Operator", "That launches it, innermost"), OperatorOfKernel},
      {TextColumn("module", "Module", "Of the first launch"), ModuleOfKernel},
      {TextColumn("python_line", "Python Line",
                  "That launched the first (--python-lines=gpu); of backward, of its forward"),
       LineOfKernel},
      {TextColumn("inputs", "Inputs", "Of the operator: types and sizes"), InputsOfKernel},
      {TextColumn("grid", "Grid", "Blocks"), OfLaunch([](const KernelLaunchesRow& launch) {
         return Sizes(launch.grid_x, launch.grid_y, launch.grid_z);
       })},
      {TextColumn("block", "Block", "Threads"), OfLaunch([](const KernelLaunchesRow& launch) {
         return Sizes(launch.block_x, launch.block_y, launch.block_z);
       })},
      {CountColumn("rank", "Rank", "Of the process; none: not a distributed job"), RankOfKernel},
      {CountColumn("device", "GPU", "CUDA ordinal"),
       [](const KernelLine& line) { return NumberCell(line.kernel.device); }},
      {CountColumn("measured_kernel", "Kernel Number",
                   "By falling time: the same kernel in each table of measured kernels"),
       [](const KernelLine& line) { return NumberCell(line.kernel.number); }}};
}

Columns<KernelLine> LimitColumns() {
  Columns<KernelLine> columns = HeadColumns();
  Append(
      columns,
      {{PercentColumn("share", "Share", "Of the GPU time of all kernels of the step"),
        [](const KernelLine& line) { return Cell{line.kernel.share * 100}; }},
       {TextColumn("bound", "Bound", "What keeps it from being faster"),
        [](const KernelLine& line) { return std::string(BoundName(line.kernel.bound)); }},
       {PercentColumn("compute", "Compute", "The busiest pipe, or the issue slots, of its limit"),
        ShareOf(&KernelFigures::compute)},
       {TextColumn("compute_limit", "By", "That pipe"),
        [](const KernelLine& line) {
          return line.kernel.compute ? std::string(LimitName(line.kernel.compute_limit)) : "";
        }},
       {PercentColumn("memory", "Memory", "The busiest level of memory, of its limit"),
        ShareOf(&KernelFigures::memory)},
       {TextColumn("memory_limit", "Level", "Of memory"),
        [](const KernelLine& line) {
          return line.kernel.memory ? std::string(LimitName(line.kernel.memory_limit)) : "";
        }},
       {TextColumn("advice", "What to Do", ""),
        [](const KernelLine& line) { return AdviceFor(line.kernel); }},
       {PercentColumn("tensor", "Tensor", "Cycles in which the tensor pipe worked"),
        OfLimit(GpuLimit::kTensor)},
       {PercentColumn("fma", "FMA", "Of what the pipe could do"), OfLimit(GpuLimit::kFma)},
       {PercentColumn("alu", "ALU", "Of what the pipe could do"), OfLimit(GpuLimit::kAlu)},
       {PercentColumn("issue", "Issue", "Slots in which an instruction was issued"),
        OfLimit(GpuLimit::kIssue)},
       {PercentColumn("dram", "DRAM", "Of its bandwidth"), OfLimit(GpuLimit::kDram)},
       {PercentColumn("l2", "L2", "Of its throughput"), OfLimit(GpuLimit::kL2)},
       {PercentColumn("l1", "L1", "Of its throughput, with shared memory"), OfLimit(GpuLimit::kL1)},
       {PercentColumn("occupancy", "Occupancy", "Achieved"), ShareOf(&KernelFigures::occupancy)},
       {RealColumn("clock_ghz", "Clock GHz", "Of the multiprocessors while it ran"),
        [](const KernelLine& line) {
          return line.kernel.clock_hz ? Cell{*line.kernel.clock_hz / 1e9} : Cell{};
        }},
       {PercentColumn("spread", "Spread",
                      "(longest - shortest) / mean time over the passes: how far to trust it"),
        [](const KernelLine& line) { return Cell{line.kernel.spread * 100}; }}});
  Append(columns, WhereColumns());
  return columns;
}

Columns<KernelLine> MemoryColumns() {
  Columns<KernelLine> columns = HeadColumns();
  Append(columns,
         {{BytesColumn("dram_read", "DRAM Read", "Of one launch"),
           BytesOf(&KernelFigures::dram_read_bytes)},
          {BytesColumn("dram_written", "DRAM Written", "Of one launch"),
           BytesOf(&KernelFigures::dram_written_bytes)},
          {RealColumn("dram_gbps", "DRAM GB/s", "Read and written"),
           RealOf(&KernelFigures::dram_gbps)},
          {PercentColumn("dram", "DRAM", "Of its bandwidth"), OfLimit(GpuLimit::kDram)},
          {PercentColumn("l2", "L2", "Of its throughput"), OfLimit(GpuLimit::kL2)},
          {PercentColumn("l2_hit", "L2 Hits", "Of the sectors asked for"),
           ShareOf(&KernelFigures::l2_hit)},
          {PercentColumn("l1", "L1", "Of its throughput"), OfLimit(GpuLimit::kL1)},
          {PercentColumn("l1_hit", "L1 Hits", "Of the sectors asked for"),
           ShareOf(&KernelFigures::l1_hit)},
          {RealColumn("sectors_per_load", "Sectors a Load",
                      "Of 32 bytes; 4 where 32 threads read 4 bytes side by side"),
           RealOf(&KernelFigures::sectors_per_load)},
          {RealColumn("sectors_per_store", "Sectors a Store", "Likewise"),
           RealOf(&KernelFigures::sectors_per_store)},
          {PercentColumn("bank_conflicts", "Bank Conflicts", "Of the wavefronts of shared memory"),
           ShareOf(&KernelFigures::bank_conflicts)}});
  Append(columns, WhereColumns());
  return columns;
}

Columns<KernelLine> OccupancyColumns() {
  Columns<KernelLine> columns = HeadColumns();
  Append(columns,
         {{PercentColumn("occupancy", "Achieved", "Warps that were resident, of those that fit"),
           ShareOf(&KernelFigures::occupancy)},
          {PercentColumn("theoretical", "Theoretical", "What the launch allows"),
           OfTheory([](const Occupancy& theory) { return theory.fraction * 100; })},
          {TextColumn("limiter", "Limited by", "What allows no more"),
           OfTheory([](const Occupancy& theory) { return std::string(theory.limiter); })},
          {RealColumn("waves", "Waves", "Blocks / those that run at the same time"),
           OfTheory([](const Occupancy& theory) { return theory.waves; })},
          {PercentColumn("tail", "Tail", "Of the time, in which the last wave leaves the GPU idle"),
           OfTheory([](const Occupancy& theory) { return theory.tail_fraction * 100; })},
          {CountColumn("registers", "Registers", "Per thread"),
           OfLaunch([](const KernelLaunchesRow& launch) {
             return int64_t{launch.registers_per_thread};
           })},
          {BytesColumn("shared", "Shared Memory", "Per block"),
           OfLaunch([](const KernelLaunchesRow& launch) {
             return int64_t{launch.static_shared_bytes} + launch.dynamic_shared_bytes;
           })}});
  Append(columns, WhereColumns());
  return columns;
}

std::string StallsText(const KernelFigures& kernel) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < kernel.stalls.size() && i < kShown; ++i) {
    const long tenths = std::lround(kernel.stalls[i].cycles * 10);
    text += (text.empty() ? "" : ", ") + std::string(kernel.stalls[i].title) + " " +
            std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
  }
  return text;
}

Columns<KernelLine> SchedulerColumns() {
  Columns<KernelLine> columns = HeadColumns();
  Append(
      columns,
      {{PercentColumn("issue_active", "Issue Slots",
                      "In which an instruction was issued, while its SM worked"),
        ShareOf(&KernelFigures::issue_active)},
       {PercentColumn("occupancy", "Occupancy", "Achieved"), ShareOf(&KernelFigures::occupancy)},
       {TextColumn("stalls", "Waits", "Cycles of a warp between two instructions, longest first"),
        [](const KernelLine& line) { return StallsText(line.kernel); }}});
  Append(columns, WhereColumns());
  return columns;
}

Columns<KernelLine> RooflineColumns() {
  constexpr auto of = [](const KernelLine& line) -> const KernelRoofline& {
    return line.kernel.roofline;
  };
  Columns<KernelLine> columns = HeadColumns();
  Append(columns, {{PercentColumn("share", "Share", "Of the GPU time of all kernels of the step"),
                    [](const KernelLine& line) { return Cell{line.kernel.share * 100}; }}});
  Append(columns, RoofColumnsOf<KernelLine>(of));
  Append(columns, {{RealColumn("clock_ghz", "Clock GHz", "Of the multiprocessors while it ran"),
                    [](const KernelLine& line) {
                      return line.kernel.clock_hz ? Cell{*line.kernel.clock_hz / 1e9} : Cell{};
                    }}});
  Append(columns, RoofCountColumnsOf<KernelLine>(of));
  Append(columns, {{TextColumn("advice", "What to Do", "What its place under its roofs means"),
                    [](const KernelLine& line) { return RooflineAdvice(line.kernel); }}});
  Append(columns, WhereColumns());
  return columns;
}

struct CounterLine {
  KernelLine line;
  StringId metric;
  double value = 0;

  std::string_view name() const { return line.store.Text(metric); }
  const CounterMetric* known() const { return FindCounterMetric(name()); }
};

const Columns<CounterLine>& ValueColumns() {
  static const Columns<CounterLine> columns = {
      {TextColumn("kernel", "Kernel", "Demangled"),
       [](const CounterLine& row) { return NameOf(row.line); }},
      {TextColumn("grid", "Grid", "Blocks"),
       [](const CounterLine& row) {
         if (!row.line.has_launch()) return Cell{};
         const KernelLaunchesRow launch = row.line.launch();
         return Cell{Sizes(launch.grid_x, launch.grid_y, launch.grid_z)};
       }},
      {TextColumn("operator", "Operator", "That launches it"),
       [](const CounterLine& row) { return OperatorOfKernel(row.line); }},
      {CountColumn("launches", "Launches", "In a step"),
       [](const CounterLine& row) { return NumberCell(row.line.kernel.launches); }},
      {TextColumn("counter", "Counter", "What it counts, for people"),
       [](const CounterLine& row) {
         return std::string(row.known() != nullptr ? row.known()->title : row.name());
       }},
      {RealColumn("value", "Value", "Of one launch, in the counter's unit"),
       [](const CounterLine& row) { return Cell{row.value}; }},
      {TextColumn("unit", "Unit", "ns, percent, bytes, ..."),
       [](const CounterLine& row) {
         return std::string(row.known() != nullptr ? row.known()->unit : std::string_view());
       }},
      {TextColumn("metric", "Metric", "As CUPTI names it"),
       [](const CounterLine& row) { return std::string(row.name()); }}};
  return columns;
}

ResultTable Make(std::string name, std::string title, const Columns<KernelLine>& columns,
                 const Store& store, const KernelReport& report) {
  ResultTable table = EmptyTable(std::move(name), std::move(title), columns);
  for (const KernelFigures& kernel : report.kernels) {
    AddRow(table, columns, KernelLine{store, kernel});
  }
  return table;
}

KernelReport ReportOf(const RunOverview& overview) {
  return ReportKernels(*overview.store, overview.links, overview.work);
}

}  // namespace

ResultTable KernelLimitsTable(const Store& store, const KernelReport& report) {
  return Make("kernel_limits", "What bounds each kernel", LimitColumns(), store, report);
}
ResultTable KernelMemoryTable(const Store& store, const KernelReport& report) {
  return Make("kernel_memory", "Memory of each kernel", MemoryColumns(), store, report);
}
ResultTable KernelOccupancyTable(const Store& store, const KernelReport& report) {
  return Make("kernel_occupancy", "Occupancy of each kernel", OccupancyColumns(), store, report);
}
ResultTable KernelSchedulerTable(const Store& store, const KernelReport& report) {
  return Make("kernel_scheduler", "What the warps of each kernel wait for", SchedulerColumns(),
              store, report);
}
ResultTable KernelRooflineTable(const Store& store, const KernelReport& report) {
  const Columns<KernelLine> columns = RooflineColumns();
  ResultTable table = EmptyTable("kernel_roofline", "Roofline of each kernel, measured", columns);
  for (const KernelFigures& kernel : report.kernels) {
    if (kernel.roofline.counted) AddRow(table, columns, KernelLine{store, kernel});
  }
  return table;
}
ResultTable KernelCountersTable(const Store& store, const KernelReport& report) {
  ResultTable table = EmptyTable("kernel_counters", "Hardware counters of kernels", ValueColumns());
  for (const KernelFigures& kernel : report.kernels) {
    for (const auto& [metric, value] : kernel.values) {
      AddRow(table, ValueColumns(), CounterLine{{store, kernel}, metric, value});
    }
  }
  return table;
}

ResultTable MakeKernelLimitsTable(const RunOverview& overview) {
  return KernelLimitsTable(*overview.store, ReportOf(overview));
}
ResultTable MakeKernelMemoryTable(const RunOverview& overview) {
  return KernelMemoryTable(*overview.store, ReportOf(overview));
}
ResultTable MakeKernelOccupancyTable(const RunOverview& overview) {
  return KernelOccupancyTable(*overview.store, ReportOf(overview));
}
ResultTable MakeKernelSchedulerTable(const RunOverview& overview) {
  return KernelSchedulerTable(*overview.store, ReportOf(overview));
}
ResultTable MakeKernelRooflineTable(const RunOverview& overview) {
  return KernelRooflineTable(*overview.store, ReportOf(overview));
}
ResultTable MakeKernelCountersTable(const RunOverview& overview) {
  return KernelCountersTable(*overview.store, ReportOf(overview));
}

}  // namespace batchlight
