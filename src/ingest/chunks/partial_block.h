// What a sealed recording keeps of its ranks (format/partial_block.h).
#pragma once

#include <optional>
#include <string>

namespace batchlight {

// The bytes of the block, unpacked. Nothing: the file is no sealed recording, has no such block or
// a damaged one; it can be read as a whole then. Touches the end of the file and the block alone.
std::optional<std::string> ReadPartialBlock(const std::string& path);

}  // namespace batchlight
