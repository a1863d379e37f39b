#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

std::string BoundText(bool has_peaks, const RooflineRow& row) {
  if (!has_peaks) return "";
  return row.memory_bound ? "memory" : "compute";
}

Columns<RooflineRow> RooflineColumns(const RunOverview& overview) {
  const Store& store = *overview.store;
  const bool has_peaks = overview.roofline.peaks.bandwidth_gbps > 0;
  using Row = RooflineRow;
  return {{TextColumn("operator", "Operator", ""),
           [&store](const Row& row) { return std::string(store.Text(row.name)); }},
          {TextColumn("inputs", "Inputs", "Types, sizes and integers"),
           [&store](const Row& row) { return std::string(store.Text(row.inputs)); }},
          {OfWholeRun(CountColumn("calls", "Calls", "In the whole run")),
           [](const Row& row) { return NumberCell(row.calls); }},
          {TimeColumn("time", "Time", "On the GPU; without one, on the CPU"), &Row::time_ns},
          {RealColumn("gflop", "GFLOP", "Of one call, from its inputs; a multiply-add is two"),
           [](const Row& row) { return row.flops / 1e9; }},
          {RealColumn("megabytes", "MB", "Of one call: inputs read and outputs written once"),
           [](const Row& row) { return row.bytes / 1e6; }},
          {RealColumn("tflops", "TFLOP/s", "FLOPs / time"), &Row::tflops},
          {RealColumn("gbps", "GB/s", "Bytes / time"), &Row::gbps},
          {RealColumn("intensity", "FLOP/byte", "Arithmetic intensity"),
           [](const Row& row) { return row.bytes > 0 ? Cell{row.flops / row.bytes} : Cell{}; }},
          {TextColumn("tensor_cores", "Tensor Cores", "One of its kernels, by name"),
           [](const Row& row) { return std::string(row.tensor_cores ? "yes" : "no"); }},
          {TextColumn("bound", "Bound",
                      "By memory if the intensity is below the ridge of the roofline"),
           [has_peaks](const Row& row) { return BoundText(has_peaks, row); }},
          {PercentColumn("of_peak", "Of Peak",
                         "Of the rate that bounds it; empty where that is not known"),
           [](const Row& row) { return row.of_peak > 0 ? Cell{row.of_peak * 100} : Cell{}; }},
          {RealColumn("gflop_per_step", "GFLOP per Step", "Mean over the steps that count"),
           [](const Row& row) { return row.flops_per_step / 1e9; }}};
}

}  // namespace

ResultTable MakeRooflineTable(const RunOverview& overview) {
  return TableOf("roofline", "Operators against the hardware's limits", RooflineColumns(overview),
                 overview.roofline.rows);
}

}  // namespace batchlight
