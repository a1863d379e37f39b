// Adds to a sealed recording what was worked out about its ranks (format/partial_block.h).
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace batchlight::capture {

// Writes the block between the last chunk and the index, in place of one that is there. `fd` is
// open for reading and writing; `path` is for messages. Room is
// reserved first; a crash in between leaves a recording without an index, which reads all the same.
// Errors: kInput if the file is no sealed recording with an index, kOutput if it cannot be written.
Status AddPartialBlock(int fd, const std::string& path, std::string_view bytes);

}  // namespace batchlight::capture
