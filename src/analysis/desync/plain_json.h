// JSON, read as data. It is read once and never held as a whole: a value takes 20 bytes.
#pragma once

#include <cstddef>
#include <string_view>

#include "analysis/desync/plain_tree.h"
#include "base/status.h"

namespace batchlight {

// Errors (kInput): damaged, too large, or its lists lie too deep in each other.
Result<PlainTree> ReadPlainJson(std::string_view text, size_t most_values);

}  // namespace batchlight
