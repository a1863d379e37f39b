// What the counters of a GPU said of whole steps, and what follows from it: facts where
// analysis/roofline and analysis/gpu estimate.
//
//   bandwidth    = (DRAM read + written) / GPU time of the same pass
//   L2 hit rate  = hits / (hits + misses), which are read in different passes
//   operations   = those of tensor cores, by type, as counted
//   measured MFU = operations of a step / (GPU time x peak of the type with most of them)
//   roofline     = that of a kernel (kernel_roofline.h), by the GPU time of the pass that counted
//   the
//                  operations
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/counters/kernel_roofline.h"
#include "analysis/cuda/gpu_peaks.h"
#include "store/store.h"

namespace batchlight {

// One metric on one GPU, over all steps in which it was read.
struct StepCounter {
  ProcessId process;
  uint32_t device = 0;
  StringId counter_set;  // with the number of the pass
  StringId metric;
  uint64_t steps = 0;
  double mean = 0;
  double least = 0;
  double most = 0;

  // How far single steps are from the mean at most: how much to trust it.
  double spread() const { return mean == 0 ? 0 : (most - least) / (mean < 0 ? -mean : mean); }
};

// By process and device, then in the order of their first reading.
std::vector<StepCounter> SumStepCounters(const Store& store);

// Of one GPU of one process; nothing where the metrics were not read.
struct StepFigures {
  ProcessId process;
  uint32_t device = 0;
  uint64_t steps = 0;     // measured, whatever the pass
  int64_t switch_ns = 0;  // what switching counters on and off took, in all
  double gpu_ns = 0;      // a measured step, on the GPU
  std::optional<double> clock_hz;
  std::optional<double> dram_bytes;  // of a step
  std::optional<double> dram_gbps;
  std::optional<double> dram_share;    // 0 to 1, of the GPU's bandwidth
  std::optional<double> tensor_share;  // 0 to 1
  std::optional<double> occupancy;     // 0 to 1
  std::optional<double> issue_share;   // 0 to 1
  std::optional<double> l1_hit_share;
  std::optional<double> l2_hit_share;
  std::optional<double> instructions;
  std::string_view dtype;                   // of most operations: "bf16"; "": none were counted
  std::optional<double> tensor_operations;  // of a step, all types
  std::optional<double> tflops;
  std::optional<double> mfu;  // 0 to 1; nothing where the peak is not known
  KernelRoofline roofline;    // of the step as a whole, idle time and all
};

std::vector<StepFigures> FindStepFigures(const Store& store,
                                         const std::vector<StepCounter>& counters,
                                         const GpuPeaks& peaks);
// With the peaks of the run's first GPU.
std::vector<StepFigures> FindStepFigures(const Store& store);

}  // namespace batchlight
