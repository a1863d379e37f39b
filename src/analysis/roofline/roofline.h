// How far operators are from what the hardware could do, without counters. Arithmetic and traffic
// follow from the inputs (analysis/roofline/operator_cost.h), time from the GPU work they launched
// or, on a machine without a GPU, from their own time on the CPU.
//
//   achieved TFLOP/s = FLOPs / time;  achieved GB/s = bytes / time;  intensity = FLOPs / bytes
//   memory bound: intensity < peak FLOP/s / peak bytes/s
//   of peak = achieved / the roof that bounds it
//   MFU = FLOPs of a step / (step time x peak of the data type with most FLOPs)
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/cuda/gpu_peaks.h"
#include "analysis/owners/attribution.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct RooflineRow {
  StringId name;
  StringId inputs;
  uint64_t calls = 0;
  double flops = 0;     // of one call
  double bytes = 0;     // of one call
  int64_t time_ns = 0;  // of all calls
  std::string_view dtype;
  bool tensor_cores = false;  // a kernel of it ran on Tensor Cores, by name
  bool memory_bound = false;
  double of_peak = 0;  // 0 to 1; 0 = peak not known
  double flops_per_step = 0;

  double tflops() const { return time_ns == 0 ? 0 : flops * double(calls) / double(time_ns) / 1e3; }
  double gbps() const { return time_ns == 0 ? 0 : bytes * double(calls) / double(time_ns); }
};

struct Roofline {
  std::vector<RooflineRow> rows;  // by falling time
  GpuPeaks peaks;                 // all 0 without a GPU
  std::string_view peak_dtype;    // of most FLOPs
  double peak_tflops = 0;         // for that type
  double flops_per_step = 0;      // mean over steady steps, per process
  double tflops = 0;              // of a step
  double mfu = 0;                 // 0 to 1; 0 = peak or steps not known
  double known_time_share = 0;    // part of the GPU's (CPU's) time that the rows explain
};

// Empty rows where operators were recorded without shapes.
Roofline AnalyzeRoofline(const Store& store, const StepSet& steps, const Attribution& work);

}  // namespace batchlight
