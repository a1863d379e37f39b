// A str of CPython as UTF-8, read raw.
#pragma once

#include <cstddef>

#include "inject/stacks/frame_layout.h"

namespace batchlight::inject::stacks {

inline constexpr size_t kTextBytes = 1024;  // longer ones are cut

// The text, in `buffer` or within the object; "" for what is not a compact str.
struct TextView {
  const char* data;
  size_t size;
};
TextView ReadText(const FrameLayout& layout, const void* object, char (&buffer)[kTextBytes]);

}  // namespace batchlight::inject::stacks
