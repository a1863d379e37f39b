// Peak rates of GPUs, from NVIDIA's data sheets: dense (without sparsity), at boost clock.
#pragma once

#include <string_view>

#include "store/tables.h"

namespace batchlight {

struct GpuPeaks {
  double fp64_tflops = 0;  // Tensor Cores where they do FP64, else CUDA cores
  double fp32_tflops = 0;  // CUDA cores
  double tf32_tflops = 0;  // Tensor Cores; 0 = the GPU has none of that kind
  double half_tflops = 0;  // FP16 and BF16 on Tensor Cores
  double fp8_tflops = 0;
  double bandwidth_gbps = 0;  // of its memory, 10^9 bytes/s
  bool known = false;         // from the table; else estimated from the GPU's properties, or 0
};

// `name` as CUDA reports it: "NVIDIA H200". For a GPU that is not in the table, FP32 and bandwidth
// are estimated from its clocks and widths, if those were recorded.
GpuPeaks PeaksOf(std::string_view name, const GpusRow& gpu);

// Peak for products of this element type ("bf16", "f32", ...), with Tensor Cores or without.
double PeakTflops(const GpuPeaks& peaks, std::string_view dtype, bool tensor_cores);

}  // namespace batchlight
