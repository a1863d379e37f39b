// Native stacks of calls: what the tool's flags and the injected library both know of them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace batchlight::format {

// Kinds of CUDA calls, as --cudabacktrace and the lines `cuda.backtrace` of ControlPage::extra name
// them; in the order of inject/cupti/call_kind.h. Each ends with NUL.
inline constexpr std::array<std::string_view, 4> kCallKindWords = {"kernel", "memory", "sync",
                                                                   "other"};
// Of a stack: the innermost.
inline constexpr size_t kMostBacktraceFrames = 128;

}  // namespace batchlight::format
