// What differs on the rank that the others wait for, beside the phase that it takes longer for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/partial/rank_partial.h"
#include "analysis/ranks/late/own_times.h"

namespace batchlight {

struct SlowKernels {
  double times = 1;   // its kernels take so many times as long as on the rank in the middle
  std::string worst;  // of those with a tenth of its kernel time
  double worst_times = 1;
};

// Of its GPU. The others: the rank in the middle; -1: not known.
struct LowClock {
  double mhz = -1, others_mhz = -1;
  double held_by_power = -1, others_held_by_power = -1;  // part of the samples
  double held_by_heat = -1, others_held_by_heat = -1;
};

struct LateCauses {
  std::optional<SlowKernels> kernels;  // nothing: they take as long as elsewhere
  std::optional<LowClock> clock;       // nothing: it is as high, or not known
  // Python's garbage collector in a late step, mean, and of the rank where it takes longest of the
  // others; 0: it does not explain half of what is waited.
  double collected_ns = 0;
  double others_collected_ns = 0;
  // What takes longer there than on any other rank, on the CPU.
  std::vector<LongerCall> operators;
  std::vector<LongerCall> modules;
};

// `rows`: by rank, the rows of its steps that are compared; `late`: places in these of rank `row`;
// `waited_ns`: what the others wait for it in a late step.
LateCauses FindLateCauses(std::span<const RankPartial* const> ranks,
                          std::span<const std::vector<uint32_t>> rows, size_t row,
                          std::span<const uint32_t> late, double waited_ns);

}  // namespace batchlight
