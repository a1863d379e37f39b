// Which metrics can be read together: hardware has few counters, so a list of metrics takes several
// passes over the same work. Greedy, in the order of the list: it has the most wanted first.
#pragma once

#include "counters/profiler_api.h"

namespace batchlight::counters {

inline constexpr size_t kMostPlanned = 512;

struct PlannedMetric {
  const char* name;
  bool in_every_pass = false;  // what values of different passes are compared by: the duration
  // From 1, the first one of those that are in every pass; 0: not to be had on this chip;
  // kNeedsSeveral: one pass is not enough for it alone.
  uint32_t pass = 0;
};
inline constexpr uint32_t kNeedsSeveral = UINT32_MAX;

// Sets the pass of each and returns how many passes there are. At most `most_passes`; what does not
// fit into these keeps pass 0.
uint32_t PlanPasses(const ProfilerApi& api, ProfilerType type, const char* chip,
                    const uint8_t* availability, PlannedMetric* metrics, size_t count,
                    uint32_t most_passes);

}  // namespace batchlight::counters
