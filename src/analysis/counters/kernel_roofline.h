// Where a kernel, or a step, stands under the roofs of its GPU, by what was counted: how many
// operations and bytes, and what the hardware could do with these at the clocks of the measurement.
// The formulas are those of Nsight Compute's sections SpeedOfLight_*RooflineChart.
//
//   peak of a type   = .sum.peak_sustained of its dense operations (operation_metrics.h) x SM
//   clock;
//                      without that the data sheet's
//   DRAM             = bytes read and written; peak: a cycle's bytes x DRAM clock
//   L2               = lts__lts2xbar_cycles_active x 32; peak likewise x L2 clock
//   L1               = l1tex__lsu_writeback_active_mem_lgds x 128; peak likewise x SM clock
//   intensity        = operations / bytes of that level
//   attainable       = the least of the peak and of intensity x bandwidth of each level
//
// Operations are those of the type with most. Tensor Cores' are counted by the hardware. Those of
// the FMA and FP64 pipes are at most that many: an instruction of a warp counts as 32 fused
// multiplications and additions, though it may be one of either, of integers, or of fewer threads.
// (Nsight Compute counts them by patching the code.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/cuda/gpu_peaks.h"

namespace batchlight {

enum class MemoryRoof : uint8_t { kDram, kL2, kL1, kCount };

struct LevelTraffic {
  std::optional<double> bytes;
  std::optional<double> peak_per_s;  // bytes
  std::optional<double> intensity;   // operations a byte
};

struct KernelRoofline {
  bool counted = false;     // operations were; else nothing below is known
  double operations = 0;    // of the type with most; 0: a copy, or another kernel without any
  std::string_view type;    // "Tensor bf16"; "": no operations
  std::string_view metric;  // that counted them; "": likewise
  bool at_most = false;     // the operations are an upper bound
  double per_s = 0;         // operations
  std::optional<double> peak_per_s;
  std::array<LevelTraffic, size_t(MemoryRoof::kCount)> levels;
  std::optional<double> attainable_per_s;  // nothing where there are no operations
  std::optional<double> share;  // of the attainable; without operations of the nearest bandwidth
  std::string_view roof;        // that is lowest: "DRAM", "Tensor bf16"; "": unknown

  const LevelTraffic& Level(MemoryRoof level) const { return levels[size_t(level)]; }
};

// A counter's value; nothing: it was not read.
using CounterLookup = std::function<std::optional<double>(std::string_view metric)>;

// `time_ns`: what the counters are of took that long. `data_sheet`: for what the chip does not say.
KernelRoofline RooflineOf(const CounterLookup& counter, double time_ns, const GpuPeaks& data_sheet);

std::string_view RoofName(MemoryRoof level);  // "DRAM"

}  // namespace batchlight
