// GPU memory over a part of the run: what was held before and after, the most in between, and what
// was asked for and given back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/memory/gpu_memory.h"

namespace batchlight {

struct MemoryPart {
  const MemoryCurve* curve = nullptr;
  std::optional<MemoryCategory> category;  // none: of all
  uint64_t before_bytes = 0;
  uint64_t most_bytes = 0;
  int64_t most_ns = 0;  // when, the first time
  uint64_t after_bytes = 0;
  uint64_t allocated_bytes = 0;
  uint64_t released_bytes = 0;
};

// Over [from, to): of each curve all, then each category of which anything was held. `curves` must
// not be thinned, and must outlive the result.
std::vector<MemoryPart> MemoryOfPart(const std::vector<MemoryCurve>& curves, int64_t from_ns,
                                     int64_t to_ns);

}  // namespace batchlight
