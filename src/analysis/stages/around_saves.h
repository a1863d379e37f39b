// What a loop does beside a save where it does nothing else that is known: gathering the state,
// flushing the file, removing an old one.
#pragma once

#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/stages/stages.h"
#include "store/store.h"

namespace batchlight {

// Parts of `stages` between steps or epochs in which one of `saves` lies, without `loading`, what a
// DataLoader takes, and, where samples of Python tell, without functions that the loop calls beside
// the one that saves. Spans: ordered and disjoint, as the result.
std::vector<TimeSpan> AroundSaves(const Store& store, ThreadId thread,
                                  const std::vector<StageSpan>& stages,
                                  const std::vector<TimeSpan>& saves,
                                  const std::vector<TimeSpan>& loading);

}  // namespace batchlight
