// Whether bytes are a control page that may be used: each text of it ends inside of itself, so that
// nobody reads on behind the page.
#pragma once

#include <cstring>

#include "format/control.h"
#include "format/layout.h"

namespace batchlight::format {

template <size_t kBytes>
bool EndsInside(const char (&text)[kBytes]) {
  return std::memchr(text, 0, kBytes) != nullptr;
}

inline bool IsUsable(const ControlPage& page) {
  return page.magic == kControlMagic && page.version == kFormatVersion && page.disable == 0 &&
         EndsInside(page.capture_message) && EndsInside(page.capture_domain) &&
         EndsInside(page.python_path) && EndsInside(page.functions_trace) && EndsInside(page.extra);
}

}  // namespace batchlight::format
