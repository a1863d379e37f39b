// Calls that were still open at the end of the recording end there.
#pragma once

#include <algorithm>

#include "store/store.h"

namespace batchlight {

inline int64_t ClosedEnd(const Store& store, int64_t start_ns, int64_t end_ns) {
  return end_ns == kOpenEnd ? std::max(start_ns, store.duration_ns) : end_ns;
}

}  // namespace batchlight
