// When blocks of memory together hold most.
#pragma once

#include <cstdint>
#include <vector>

namespace batchlight {

struct HeldBlock {
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // kOpenEnd: it is held to the end
  uint64_t bytes = 0;
};

struct HeldPeak {
  int64_t at_ns = 0;
  uint64_t bytes = 0;

  bool Has(int64_t start_ns, int64_t end_ns) const { return start_ns <= at_ns && at_ns < end_ns; }
};

// What ends at a moment makes room for what begins then.
HeldPeak PeakOf(const std::vector<HeldBlock>& blocks);

}  // namespace batchlight
