// What a chunk of an earlier capture says that later captures need too: which process it was, names
// of threads, categories, resources. Events are left out.
#pragma once

#include <vector>

#include "format/decode.h"

namespace batchlight::capture {

// A chunk with the lasting records of `chunk` and the strings they name. Empty if there are none.
std::vector<uint8_t> KeepLastingRecords(const format::ChunkView& chunk);

}  // namespace batchlight::capture
