// The functions that fuzzing calls, one a kind of input. Any bytes must come to a result or an
// error; what a recording or a trace gives goes through all commands. They abort otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::fuzz {

#define TARGET(name, function) void function(const uint8_t* data, size_t size);
#include "tests/fuzz/targets.def"
#include "tests/fuzz/tool_targets.def"
#undef TARGET

}  // namespace batchlight::fuzz
