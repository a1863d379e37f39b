// Code that a program makes while it runs (eval, exec, dataclasses). What is counted is held for
// ever, so that no other code gets its address: of code that is made again and again, for each line
// of a file, only so much is held.
#pragma once

#include <cstddef>
#include <string_view>

namespace batchlight::inject {

inline constexpr size_t kMostMadeCode = 4096;

// Whether a file's name is one of such code: "<string>", "<attrs generated init>".
bool IsMadeCode(std::string_view file);

enum class Made {
  kHeld,     // by this call or one before, of any thread: to be counted
  kFull,     // not held, not counted
  kNowFull,  // the first such one
};
Made HoldMadeCode(const void* code);

}  // namespace batchlight::inject
