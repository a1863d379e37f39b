#include "analysis/tables/counters/counter_tables.h"

#include <string>

#include "analysis/counters/gpu_metric_parts.h"
#include "analysis/counters/gpu_samples.h"
#include "analysis/counters/metrics.h"
#include "analysis/counters/step_counters.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/counters/measured_roof_columns.h"

namespace batchlight {
namespace {

struct CounterRow {
  const Store& store;
  StepCounter counter;

  std::string_view metric() const { return store.Text(counter.metric); }
  const CounterMetric* known() const { return FindCounterMetric(metric()); }
};

Cell RankOf(const CounterRow& row) {
  const ProcessId process = row.counter.process;
  return process.IsNone() ? Cell{} : RankCell(row.store.processes.rank[process.row()]);
}

const Columns<CounterRow>& CounterColumns() {
  static const Columns<CounterRow> columns = {
      {CountColumn("rank", "Rank", "Of the process; none: not a distributed job"), RankOf},
      {CountColumn("device", "GPU", "CUDA ordinal"),
       [](const CounterRow& row) { return NumberCell(row.counter.device); }},
      {TextColumn("set", "Set", "What was asked for, with the number of its pass"),
       [](const CounterRow& row) { return std::string(row.store.Text(row.counter.counter_set)); }},
      {TextColumn("counter", "Counter", "What it counts, for people"),
       [](const CounterRow& row) {
         return std::string(row.known() != nullptr ? row.known()->title : row.metric());
       }},
      {RealColumn("mean", "Mean", "Of a step, in the counter's unit"),
       [](const CounterRow& row) { return Cell{row.counter.mean}; }},
      {TextColumn("unit", "Unit", "ns, percent, bytes, ..."),
       [](const CounterRow& row) {
         return std::string(row.known() != nullptr ? row.known()->unit : std::string_view());
       }},
      {CountColumn("steps", "Steps", "In which it was read"),
       [](const CounterRow& row) { return NumberCell(row.counter.steps); }},
      {RealColumn("least", "Least", "Of one step"),
       [](const CounterRow& row) { return Cell{row.counter.least}; }},
      {RealColumn("most", "Most", "Of one step"),
       [](const CounterRow& row) { return Cell{row.counter.most}; }},
      {PercentColumn("spread", "Spread", "(most - least) / mean: how alike the steps are"),
       [](const CounterRow& row) { return Cell{row.counter.spread() * 100}; }},
      {TextColumn("metric", "Metric", "As CUPTI names it"),
       [](const CounterRow& row) { return std::string(row.metric()); }}};
  return columns;
}

std::string TitleOfMetric(std::string_view name) {
  const CounterMetric* const known = FindCounterMetric(name);
  return std::string(known != nullptr ? known->title : name);
}

struct SampledRow {
  const Store& store;
  GpuMetricSum sum;
};

const Columns<SampledRow>& SampledColumns() {
  static const Columns<SampledRow> columns = {
      {CountColumn("device", "GPU", "Of the machine, as nvidia-smi counts"),
       [](const SampledRow& row) { return NumberCell(row.sum.device); }},
      {TextColumn("counter", "Metric", "What it is, for people"),
       [](const SampledRow& row) { return TitleOfMetric(row.store.Text(row.sum.metric)); }},
      {TextColumn("unit", "Unit", "Of the numbers"),
       [](const SampledRow& row) { return std::string(row.store.Text(row.sum.unit)); }},
      {RealColumn("step_mean", "Mean in Steps", "Of the samples within the steps that count"),
       [](const SampledRow& row) {
         return row.sum.step_samples == 0 ? Cell{} : Cell{row.sum.step_mean};
       }},
      {RealColumn("mean", "Mean", "Of all samples"),
       [](const SampledRow& row) { return Cell{row.sum.mean}; }},
      {RealColumn("least", "Least", "Of one sample"),
       [](const SampledRow& row) { return Cell{row.sum.least}; }},
      {RealColumn("most", "Most", "Of one sample"),
       [](const SampledRow& row) { return Cell{row.sum.most}; }},
      {CountColumn("samples", "Samples", "That were taken"),
       [](const SampledRow& row) { return NumberCell(row.sum.samples); }},
      {TextColumn("source", "Source", "What sampled it"),
       [](const SampledRow& row) { return std::string(Label(row.sum.source)); }},
      {TextColumn("metric", "Name", "As CUPTI or NVML has it"),
       [](const SampledRow& row) { return std::string(row.store.Text(row.sum.metric)); }}};
  return columns;
}

struct PartRow {
  const Store& store;
  const GpuMetricPart& part;
};

const Columns<PartRow>& PartColumns() {
  static const Columns<PartRow> columns = {
      {CountColumn("device", "GPU", "Of the machine, as nvidia-smi counts"),
       [](const PartRow& row) { return NumberCell(row.part.device); }},
      {TextColumn("by", "By", "phase, whose work the GPU ran; idle, by cause; kernel"),
       [](const PartRow& row) { return std::string(MetricPartKindName(row.part.kind)); }},
      {TextColumn("part", "Part", "Phase, cause of idle gaps, or kernel"),
       [](const PartRow& row) { return row.part.name; }},
      {TextColumn("counter", "Metric", "What it is, for people"),
       [](const PartRow& row) { return TitleOfMetric(row.store.Text(row.part.metric)); }},
      {TextColumn("unit", "Unit", "Of the numbers"),
       [](const PartRow& row) { return std::string(row.store.Text(row.part.unit)); }},
      {RealColumn("mean", "Mean", "Of its samples"),
       [](const PartRow& row) { return Cell{row.part.mean}; }},
      {CountColumn("samples", "Samples", "That lie within it as a whole, in steps that count"),
       [](const PartRow& row) { return NumberCell(row.part.samples); }},
      {TextColumn("metric", "Name", "As CUPTI or NVML has it"),
       [](const PartRow& row) { return std::string(row.store.Text(row.part.metric)); }}};
  return columns;
}

struct StepLine {
  const Store& store;
  StepFigures figures;
};

Columns<StepLine> StepRooflineColumns() {
  constexpr auto of = [](const StepLine& line) -> const KernelRoofline& {
    return line.figures.roofline;
  };
  Columns<StepLine> columns = {
      {CountColumn("rank", "Rank", "Of the process; none: not a distributed job"),
       [](const StepLine& line) {
         const ProcessId process = line.figures.process;
         return process.IsNone() ? Cell{} : RankCell(line.store.processes.rank[process.row()]);
       }},
      {CountColumn("device", "GPU", "CUDA ordinal"),
       [](const StepLine& line) { return NumberCell(line.figures.device); }},
      {CountColumn("steps", "Steps", "That were measured"),
       [](const StepLine& line) { return NumberCell(line.figures.steps); }},
      {TimeColumn("time", "Time", "Of a measured step on the GPU, idle time and all"),
       [](const StepLine& line) { return NanosecondsCell(line.figures.gpu_ns); }}};
  Append(columns, RoofColumnsOf<StepLine>(of));
  Append(columns, {{RealColumn("clock_ghz", "Clock GHz", "Of the multiprocessors, mean"),
                    [](const StepLine& line) {
                      return line.figures.clock_hz ? Cell{*line.figures.clock_hz / 1e9} : Cell{};
                    }}});
  Append(columns, RoofCountColumnsOf<StepLine>(of));
  return columns;
}

}  // namespace

ResultTable MakeStepRooflineTable(const RunOverview& overview) {
  const Columns<StepLine> columns = StepRooflineColumns();
  ResultTable table = EmptyTable("step_roofline", "Roofline of a step, measured", columns);
  for (const StepFigures& figures : FindStepFigures(*overview.store)) {
    if (figures.roofline.counted) AddRow(table, columns, StepLine{*overview.store, figures});
  }
  return table;
}

ResultTable MakeGpuMetricsTable(const RunOverview& overview) {
  ResultTable table = EmptyTable("gpu_metrics", "Metrics of GPUs over time", SampledColumns());
  for (const GpuMetricSum& sum : SumGpuMetrics(*overview.store, overview.steps)) {
    AddRow(table, SampledColumns(), SampledRow{*overview.store, sum});
  }
  return table;
}

ResultTable MakeGpuMetricPartsTable(const RunOverview& overview) {
  ResultTable table = EmptyTable("gpu_metric_parts",
                                 "Metrics of GPUs by phase, idle gap and kernel", PartColumns());
  if (overview.inputs == nullptr) return table;
  const Store& store = *overview.store;
  for (const GpuMetricPart& part :
       SumGpuMetricParts(*overview.inputs, overview.steps, overview.work)) {
    AddRow(table, PartColumns(), PartRow{store, part});
  }
  return table;
}

ResultTable MakeStepCountersTable(const RunOverview& overview) {
  ResultTable table = EmptyTable("step_counters", "Hardware counters of steps", CounterColumns());
  for (const StepCounter& counter : SumStepCounters(*overview.store)) {
    AddRow(table, CounterColumns(), CounterRow{*overview.store, counter});
  }
  return table;
}

}  // namespace batchlight
