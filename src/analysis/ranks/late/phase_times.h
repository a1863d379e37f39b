// What a rank did in its steps: each phase with its time in every step, as it is kept of thousands
// of ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/breakdown/step_breakdown.h"

namespace batchlight {

struct PhaseTimes {
  PhaseKind kind = PhaseKind::kOther;
  std::string name;
  std::vector<uint32_t> per_step_us;  // of every step; up to an hour

  int64_t NsOf(size_t step) const { return int64_t{per_step_us[step]} * 1000; }
};

inline std::vector<PhaseTimes> PhaseTimesOf(std::span<const PhaseShare> phases) {
  std::vector<PhaseTimes> times;
  for (const PhaseShare& phase : phases) {
    PhaseTimes& kept = times.emplace_back();
    kept.kind = phase.kind;
    kept.name = phase.name;
    for (const int64_t ns : phase.per_step_ns) {
      kept.per_step_us.push_back(
          static_cast<uint32_t>(std::clamp<int64_t>((ns + 500) / 1000, 0, UINT32_MAX)));
    }
  }
  return times;
}

}  // namespace batchlight
