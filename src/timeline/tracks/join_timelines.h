// A run that goes on, read in two: all of it a while ago, and what is new by itself. The two as one
// timeline, for the price of what is new and of a copy of the index.
#pragma once

#include <cstdint>
#include <memory>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

// Up to the moment `older` tells, from then on `newer`, which was read from about then on. What
// lasts over the moment is two events, one up to it and one from it. Counters and stages are those
// of the older. `steps`: of both, with the older's processes. All must outlive the result.
std::unique_ptr<Timeline> JoinTimelines(const Timeline& older, const Timeline& newer, int64_t at_ns,
                                        StepSet steps);

// The older's process that is this one of the newer; None: it is new.
ProcessId SameProcess(const Store& older, const Store& newer, ProcessId process);

}  // namespace batchlight::timeline
