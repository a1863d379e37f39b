// Keeps what later captures need of the tool's earlier chunks: facts about the session and the
// machine, and how processes ended. (Processes repeat such records in each capture.)
#pragma once

#include <vector>

#include "format/decode.h"

namespace batchlight::capture {

// A chunk with the lasting records of `chunk` and the strings they name. Empty if there are none.
std::vector<uint8_t> KeepLastingRecords(const format::ChunkView& chunk);

}  // namespace batchlight::capture
