// Lines of instructions, as code objects of CPython store them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpython/frame_layout.h"

namespace batchlight::cpython {

// Bytes of bytecode before the instruction that a frame has reached (FrameLayout::frame_place) in
// the code object at `code`; negative: before the first. Nonsense from frames that changed
// meanwhile.
int64_t OffsetOf(const FrameLayout& layout, uint64_t place, uint64_t code);

// The line of the instruction at `offset` (OffsetOf); 0: it has none.
uint32_t LineAt(LineTableKind kind, const uint8_t* table, size_t bytes, int first_line,
                int64_t offset);

}  // namespace batchlight::cpython
