// Times as users write them on the command line.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace batchlight {

// "1s2ms3us", "8050ms", "17": units ns us ms s m h, nanoseconds where none is given. Errors:
// kUsage.
Result<int64_t> ParseDuration(std::string_view text);

}  // namespace batchlight
