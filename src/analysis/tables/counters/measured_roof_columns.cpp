#include "analysis/tables/counters/measured_roof_columns.h"

#include <optional>
#include <string>

namespace batchlight {
namespace {

Cell Giga(const std::optional<double>& number) { return number ? Cell{*number / 1e9} : Cell{}; }
Cell Tera(const std::optional<double>& number) { return number ? Cell{*number / 1e12} : Cell{}; }

auto IntensityOf(MemoryRoof level) {
  return [level](const KernelRoofline& of) {
    const std::optional<double>& intensity = of.Level(level).intensity;
    return intensity ? Cell{*intensity} : Cell{};
  };
}
auto BytesOfLevel(MemoryRoof level) {
  return [level](const KernelRoofline& of) {
    const std::optional<double>& bytes = of.Level(level).bytes;
    return bytes ? NanosecondsCell(*bytes) : Cell{};
  };
}
auto PeakOfLevel(MemoryRoof level) {
  return [level](const KernelRoofline& of) { return Giga(of.Level(level).peak_per_s); };
}

}  // namespace

const Columns<KernelRoofline>& RoofColumns() {
  using Of = KernelRoofline;
  static const Columns<Of> columns = {
      {TextColumn("type", "Type", "Of most operations; none: a copy, or no operations"),
       [](const Of& of) { return std::string(of.type); }},
      {RealColumn("tflops", "TFLOP/s", "Operations of that type, as counted"),
       [](const Of& of) { return of.operations > 0 ? Cell{of.per_s / 1e12} : Cell{}; }},
      {RealColumn("attainable_tflops", "Attainable", "TFLOP/s: the lowest of its roofs"),
       [](const Of& of) { return Tera(of.attainable_per_s); }},
      {PercentColumn("attained", "Attained",
                     "Of the attainable; without operations of the nearest bandwidth"),
       [](const Of& of) { return of.share ? Cell{*of.share * 100} : Cell{}; }},
      {TextColumn("roof", "Roof", "That is lowest: the peak of its type, or a level of memory"),
       [](const Of& of) { return std::string(of.roof); }},
      {RealColumn("dram_intensity", "FLOP/B DRAM", "Operations a byte of DRAM"),
       IntensityOf(MemoryRoof::kDram)},
      {RealColumn("l2_intensity", "FLOP/B L2", "Operations a byte that L2 sent"),
       IntensityOf(MemoryRoof::kL2)},
      {RealColumn("l1_intensity", "FLOP/B L1",
                  "Operations a byte that L1, with shared memory, sent"),
       IntensityOf(MemoryRoof::kL1)}};
  return columns;
}

const Columns<KernelRoofline>& RoofCountColumns() {
  using Of = KernelRoofline;
  static const Columns<Of> columns = {
      {RealColumn("operations", "Operations", "Of that type, of one launch or step"),
       [](const Of& of) { return Cell{of.operations}; }},
      {TextColumn("counted", "Counted",
                  "exactly; at most: by instructions of the pipe, 64 operations each"),
       [](const Of& of) {
         return std::string(of.operations <= 0 ? "" : of.at_most ? "at most" : "exactly");
       }},
      {RealColumn("peak_tflops", "Peak TFLOP/s", "Of that type at this clock"),
       [](const Of& of) { return Tera(of.peak_per_s); }},
      {BytesColumn("dram_bytes", "DRAM Bytes", "Read and written, of one launch or step"),
       BytesOfLevel(MemoryRoof::kDram)},
      {BytesColumn("l2_bytes", "L2 Bytes", "Sent to the multiprocessors"),
       BytesOfLevel(MemoryRoof::kL2)},
      {BytesColumn("l1_bytes", "L1 Bytes", "Sent to registers, with shared memory"),
       BytesOfLevel(MemoryRoof::kL1)},
      {RealColumn("dram_peak_gbps", "DRAM Peak GB/s", "At the memory's clock"),
       PeakOfLevel(MemoryRoof::kDram)},
      {RealColumn("l2_peak_gbps", "L2 Peak GB/s", "At its clock"), PeakOfLevel(MemoryRoof::kL2)},
      {RealColumn("l1_peak_gbps", "L1 Peak GB/s", "At this clock"), PeakOfLevel(MemoryRoof::kL1)}};
  return columns;
}

}  // namespace batchlight
