// What this machine sees of the inputs of a job: nodes of a cluster may see other files under the
// same names, or the same ones later.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/engines/engine.h"

namespace batchlight::cli {

// Those that are there. Errors (kInput): as FindInputs.
Result<std::vector<SeenInput>> SeeInputs(const std::vector<std::string>& runs);

// Waits until this machine sees the input as it was seen elsewhere, for `seconds` at most; whether
// it does.
bool AwaitInput(const SeenInput& input, double seconds);

}  // namespace batchlight::cli
