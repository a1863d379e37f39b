// Lines of instructions, as code objects of CPython store them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/stacks/frame_layout.h"

namespace batchlight::inject::stacks {

// The line of the instruction at `offset` (bytes of bytecode); 0: it has none.
uint32_t LineAt(LineTableKind kind, const uint8_t* table, size_t bytes, int first_line, int offset);

}  // namespace batchlight::inject::stacks
