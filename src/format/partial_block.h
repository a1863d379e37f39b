// Where a sealed recording keeps what was worked out about its ranks when it was sealed: one block
// between the last chunk and the index. Readers that do not know it pass over it. FORMAT.md says
// the same in words.
#pragma once

#include "format/layout.h"

namespace batchlight::format {

inline constexpr BlockKind kPartialBlock = static_cast<BlockKind>(3);

// Of the stored bytes of a block: the next one begins at a multiple of 8.
constexpr uint64_t PaddedBytes(uint64_t stored_bytes) { return (stored_bytes + 7) / 8 * 8; }

}  // namespace batchlight::format
