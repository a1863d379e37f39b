// What `ranks` reads of each recording, as a piece of work for an engine.
#pragma once

#include "cli/engines/engine.h"

namespace batchlight::cli {

// Gives the bytes of analysis/partial/partial_bytes.h: what was kept in the recording, else what
// reading all of it gives.
Work RankWork();

}  // namespace batchlight::cli
