// The samples of GPU instructions of a recording.
#pragma once

#include <string>

#include "base/status.h"
#include "store/stall_samples.h"

namespace batchlight {

// `path`: sealed file or live folder. Errors: kInput.
Result<StallSamples> ReadStallSamples(const std::string& path);

}  // namespace batchlight
