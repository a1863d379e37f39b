// What --gpu-metrics-devices and its kin ask for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace batchlight::capture {

struct GpuSampling {
  std::string devices;  // all, or 0,2; "": nothing is sampled
  uint64_t interval_ns = 1'000'000;
  std::vector<std::string> metrics;  // of hardware counters; NVML's are sampled besides
  std::string cupti_folder = "-";
};

}  // namespace batchlight::capture
