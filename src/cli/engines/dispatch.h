// Hands inputs out to machines, a few at a time, and again where a machine failed with them.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "cli/engines/engine.h"
#include "cli/engines/workers.h"

namespace batchlight::cli {

// Calls `take` once for each of `which`, on this thread: with what came of it, or with the last
// failure after three calls. A machine whose calls fail three times in a row gets no more. Errors:
// those of `workers`.
Status Dispatch(Workers& workers, const std::vector<WorkPlace>& places,
                const std::vector<EngineInput>& inputs, const std::vector<size_t>& which,
                const Work& work, const TakeWork& take);

}  // namespace batchlight::cli
