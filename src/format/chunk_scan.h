// Finds the chunks of a process file in a live folder. The file may have holes, end anywhere and
// hold garbage.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "format/decode.h"

namespace batchlight::format {

// Appends the chunks of `file` in file order; they borrow its bytes, which must be page-aligned in
// memory. Returns the number of stretches between chunks that hold bytes but no readable chunk.
//
// Chunks lie at multiples of kPageBytes and `chunk_bytes` leads to the next. A header inside the
// reach of another wins, since only a damaged `chunk_bytes` makes chunks overlap.
uint64_t ScanProcessFile(std::span<const uint8_t> file, std::vector<ChunkView>& chunks);

}  // namespace batchlight::format
