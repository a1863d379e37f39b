// A str of CPython as UTF-8, read raw.
#pragma once

#include <cstddef>

#include "cpython/frame_layout.h"

namespace batchlight::cpython {

inline constexpr size_t kTextBytes = 1024;  // longer ones are cut

// The text, in `buffer` or within the object; "" for what is not a compact str.
struct TextView {
  const char* data;
  size_t size;
};
TextView ReadText(const FrameLayout& layout, const void* object, char (&buffer)[kTextBytes]);

}  // namespace batchlight::cpython
