// Calls that were still open at the end of the recording end there. No call ends before it starts:
// foreign files hold such rows.
#pragma once

#include <algorithm>

#include "store/store.h"

namespace batchlight {

inline int64_t ClosedEnd(const Store& store, int64_t start_ns, int64_t end_ns) {
  return std::max(start_ns, end_ns == kOpenEnd ? store.duration_ns : end_ns);
}

}  // namespace batchlight
