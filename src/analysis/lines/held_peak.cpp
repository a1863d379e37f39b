#include "analysis/lines/held_peak.h"

#include <algorithm>
#include <tuple>

#include "store/tables.h"

namespace batchlight {
namespace {

struct HeldChange {
  int64_t at_ns;
  bool begins;
  uint64_t bytes;

  friend bool operator<(const HeldChange& a, const HeldChange& b) {
    return std::tuple(a.at_ns, a.begins) < std::tuple(b.at_ns, b.begins);
  }
};

}  // namespace

HeldPeak PeakOf(const std::vector<HeldBlock>& blocks) {
  std::vector<HeldChange> changes;
  changes.reserve(2 * blocks.size());
  for (const HeldBlock& block : blocks) {
    changes.push_back({block.start_ns, true, block.bytes});
    if (block.end_ns != kOpenEnd) changes.push_back({block.end_ns, false, block.bytes});
  }
  std::sort(changes.begin(), changes.end());
  HeldPeak peak;
  uint64_t held = 0;
  for (const HeldChange& change : changes) {
    held = change.begins ? held + change.bytes : held - std::min(held, change.bytes);
    if (held <= peak.bytes) continue;
    peak = {change.at_ns, held};
  }
  return peak;
}

}  // namespace batchlight
