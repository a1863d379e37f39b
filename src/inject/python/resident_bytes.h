// How much of this process is in RAM.
#pragma once

#include "format/layout.h"
#include "inject/rt/option_number.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {

// 0: the kernel does not say. Some 3 us.
inline uint64_t ResidentBytes() {
  char text[128];
  const size_t bytes = sys::ReadFile("/proc/self/statm", text, sizeof text - 1);
  text[bytes] = 0;
  const char* resident = std::strchr(text, ' ');  // in pages, after the size of all
  return resident != nullptr ? LeadingNumber(resident + 1) * format::kPageBytes : 0;
}

}  // namespace batchlight::inject
