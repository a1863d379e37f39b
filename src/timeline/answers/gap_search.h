// The longest times in which a GPU had nothing to do, of the part of a run that is of interest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/answers/name_search.h"
#include "timeline/index/timeline.h"

namespace batchlight::timeline {

struct GapElsewhere {
  uint32_t ref = kNoRef;
  std::string where;  // "after the last step"
};

struct LongestGap {
  LongestEvents found;
  size_t steps = 0;  // that were searched; 0: the whole run was, as no step is known
  // Gaps that are longer than all that were searched, in time: the longest one before the steps,
  // among those before the first that counts, later among them (an epoch's start), and after them.
  std::vector<GapElsewhere> outside;
};

// Of the gaps that begin in a step that counts, one of the GPU's own process: what begins elsewhere
// is start-up, validation and the like, which is no news. nth from 0.
LongestGap NthLongestGap(const Timeline& timeline, uint64_t nth);

}  // namespace batchlight::timeline
