// How deep operators inside of operators are recorded (--pytorch-depth).
#pragma once

#include <cstdint>

#include "inject/buffer/thread_stream.h"

namespace batchlight::inject {

// Of the operators that are open on a thread so many are recorded at most, the outermost ones.
extern uint32_t g_operator_levels;

// Reads the session's option (ControlPage::extra).
void ReadOperatorLevels();

// Whether an operator that begins now is too deep.
inline bool IsTooDeep(const ThreadStream& stream) {
  return stream.open_operators() >= g_operator_levels;
}

}  // namespace batchlight::inject
