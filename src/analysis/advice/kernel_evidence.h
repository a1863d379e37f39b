// A kernel among the evidence of a finding.
#pragma once

#include <string>

#include "analysis/advice/finding.h"
#include "analysis/gpu/gpu_summary.h"

namespace batchlight {

// It is called by its short name, which others may have (`Kernel2` of cutlass); its events are
// found by the whole one.
inline Evidence KernelEvidence(const Store& store, const KernelRow& kernel) {
  return {.kind = "kernel",
          .name = std::string(store.Text(kernel.short_name)),
          .count = kernel.calls,
          .per_step_ns = kernel.per_step_ns,
          .event = std::string(store.Text(kernel.name))};
}

}  // namespace batchlight
