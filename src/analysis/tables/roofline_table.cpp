#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {

ResultTable MakeRooflineTable(const RunOverview& overview) {
  ResultTable table{.name = "roofline", .title = "Operators against the hardware's limits"};
  table.columns = {
      TextColumn("Operator", ""),
      TextColumn("Inputs", "Types, sizes and integers"),
      CountColumn("Calls", "In the whole run"),
      TimeColumn("Time", "On the GPU; without one, on the CPU"),
      RealColumn("GFLOP", "Of one call, from its inputs; a multiply-add is two"),
      RealColumn("MB", "Of one call: inputs read and outputs written once"),
      RealColumn("TFLOP/s", "FLOPs / time"),
      RealColumn("GB/s", "Bytes / time"),
      RealColumn("FLOP/byte", "Arithmetic intensity"),
      TextColumn("Tensor Cores", "One of its kernels, by name"),
      TextColumn("Bound", "By memory if the intensity is below the ridge of the roofline"),
      PercentColumn("Of Peak", "Of the rate that bounds it; empty where that is not known"),
      RealColumn("GFLOP per Step", "Mean over the steps that count")};
  const bool has_peaks = overview.roofline.peaks.bandwidth_gbps > 0;
  for (const RooflineRow& row : overview.roofline.rows) {
    table.rows.push_back(
        {std::string(overview.store->Text(row.name)), std::string(overview.store->Text(row.inputs)),
         NumberCell(row.calls), row.time_ns, row.flops / 1e9, row.bytes / 1e6, row.tflops(),
         row.gbps(), row.bytes > 0 ? Cell{row.flops / row.bytes} : Cell{},
         std::string(row.tensor_cores ? "yes" : "no"),
         std::string(!has_peaks         ? ""
                     : row.memory_bound ? "memory"
                                        : "compute"),
         row.of_peak > 0 ? Cell{row.of_peak * 100} : Cell{}, row.flops_per_step / 1e9});
  }
  return table;
}

}  // namespace batchlight
