// What the tool's chunks of an earlier capture say that later captures need too: facts of the
// session and machine, how processes ended. (Processes say what lasts anew in each capture.)
#pragma once

#include <vector>

#include "format/decode.h"

namespace batchlight::capture {

// A chunk with the lasting records of `chunk` and the strings they name. Empty if there are none.
std::vector<uint8_t> KeepLastingRecords(const format::ChunkView& chunk);

}  // namespace batchlight::capture
