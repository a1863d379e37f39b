// What slows a rank whatever it is that it does: Python's garbage collector, and a GPU whose clock
// is lower than the others'.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct RankCondition {
  std::vector<uint32_t> collected_us;  // of every step: full collections; empty: there are none
  // Means of the samples of NVML in steps that count, of the device that the rank uses most.
  double clock_mhz = -1;      // -1: not known
  double held_by_power = -1;  // part of the samples
  double held_by_heat = -1;
};

RankCondition ConditionOf(const Store& store, const ProcessSteps& process);

}  // namespace batchlight
