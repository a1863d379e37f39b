// Walks a thread's stack from a copy of its registers and of the stack's top.
#pragma once

#include <vector>

#include "native/address_space.h"
#include "native/expression.h"
#include "native/registers.h"

namespace batchlight::native {

// Why a walk ended where it did; numbers are the recording's (records.def, CpuSample).
enum class WalkEnd : uint8_t { kWhole = 0, kDeep = 1, kNoTables = 2 };

// Frames are appended innermost first; of callers, the place of the call: the last byte of it.
// `work_left`: bytes of tables and expressions that may yet be run, for all walks together that
// somebody waits for. Without any it ends as without tables.
WalkEnd WalkStack(const AddressSpace& space, Registers registers, const StackCopy& stack,
                  size_t max_frames, std::vector<CodePlace>& frames, uint64_t& work_left);

}  // namespace batchlight::native
