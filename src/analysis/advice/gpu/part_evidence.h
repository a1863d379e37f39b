// Parts of the GPU's step as evidence of a finding.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/advice/rules.h"

namespace batchlight::advice {

inline Evidence PartOf(const RunMeasures& run, GpuPart part) {
  return {
      .kind = "part", .name = std::string(GpuPartName(part)), .per_step_ns = GpuPartNs(run, part)};
}

inline void LargestFirst(std::vector<Evidence>& parts) {
  std::stable_sort(parts.begin(), parts.end(), [](const Evidence& a, const Evidence& b) {
    return a.per_step_ns > b.per_step_ns;
  });
}

}  // namespace batchlight::advice
