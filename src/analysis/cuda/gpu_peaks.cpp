#include "analysis/cuda/gpu_peaks.h"

namespace batchlight {
namespace {

struct Entry {
  std::string_view part;  // of the name; special before general
  double fp64, fp32, tf32, half, fp8, bandwidth_gbps;
};

constexpr Entry kTable[] = {
    {"GB200", 40, 80, 1250, 2500, 5000, 8000},
    {"B200", 37, 75, 1100, 2250, 4500, 7700},
    {"GH200", 67, 67, 494.7, 989.4, 1978.9, 4000},
    {"H200 NVL", 60, 60, 417.5, 835.5, 1670.5, 4800},
    {"H200", 67, 67, 494.7, 989.4, 1978.9, 4800},
    {"H100 NVL", 60, 60, 417.5, 835.5, 1670.5, 3900},
    {"H100 PCIe", 51, 51, 378, 756, 1513, 2000},
    {"H100", 67, 67, 494.7, 989.4, 1978.9, 3350},
    {"H800", 1, 67, 494.7, 989.4, 1978.9, 3350},
    {"A100-SXM4-80GB", 19.5, 19.5, 156, 312, 0, 2039},
    {"A100 80GB", 19.5, 19.5, 156, 312, 0, 1935},
    {"A100", 19.5, 19.5, 156, 312, 0, 1555},
    {"A800", 9.7, 19.5, 156, 312, 0, 2039},
    {"A40", 0.58, 37.4, 74.8, 149.7, 0, 696},
    {"A30", 10.3, 10.3, 82, 165, 0, 933},
    {"A10G", 0.5, 31.5, 35, 70, 0, 600},
    {"A10", 0.49, 31.2, 62.5, 125, 0, 600},
    {"A6000", 1.2, 38.7, 77.4, 154.8, 0, 768},
    {"L40S", 1.4, 91.6, 183, 362, 733, 864},
    {"L40", 1.4, 90.5, 90.5, 181, 362, 864},
    {"L4", 0.49, 30.3, 60, 121, 242, 300},
    {"V100-SXM2", 7.8, 15.7, 0, 125, 0, 900},
    {"V100", 7, 14, 0, 112, 0, 900},
    {"Tesla T4", 0.25, 8.1, 0, 65, 0, 320},
    {"RTX 5090", 1.6, 104.8, 104.8, 209.5, 419, 1792},
    {"RTX 4090", 1.3, 82.6, 82.6, 165.2, 330.3, 1008},
    {"RTX 4080", 0.76, 48.7, 48.7, 97.5, 194.9, 717},
    {"RTX 3090", 0.56, 35.6, 35.6, 71, 0, 936},
    {"RTX 3080", 0.47, 29.8, 29.8, 59.5, 0, 760},
};

}  // namespace

GpuPeaks PeaksOf(std::string_view name, const GpusRow& gpu) {
  for (const Entry& entry : kTable) {
    if (name.find(entry.part) == name.npos) continue;
    return {entry.fp64, entry.fp32, entry.tf32, entry.half, entry.fp8, entry.bandwidth_gbps, true};
  }
  GpuPeaks peaks;
  // FP32: 128 lanes an SM since compute capability 8.6 and on 9.0, 64 before; two FLOPs a cycle.
  const bool wide = gpu.compute_major >= 9 || (gpu.compute_major == 8 && gpu.compute_minor >= 6);
  peaks.fp32_tflops = double(gpu.sm_count) * (wide ? 128 : 64) * 2 * double(gpu.clock_khz) / 1e9;
  peaks.bandwidth_gbps = double(gpu.memory_bandwidth_bytes_per_s) / 1e9;
  return peaks;
}

double PeakTflops(const GpuPeaks& peaks, std::string_view dtype, bool tensor_cores) {
  if (dtype == "f64" || dtype == "c128") return peaks.fp64_tflops;
  if (dtype.starts_with("f16") || dtype == "bf16") return peaks.half_tflops;
  if (dtype.starts_with("f8")) return peaks.fp8_tflops;
  if (dtype == "f32" || dtype == "c64") {
    return tensor_cores && peaks.tf32_tflops > 0 ? peaks.tf32_tflops : peaks.fp32_tflops;
  }
  return 0;
}

}  // namespace batchlight
