// The end of a call. One that was still open when collecting stopped ends there, with its capture
// or with the session. No call ends before it starts, though foreign files have
// such rows.
#pragma once

#include <algorithm>

#include "store/store.h"

namespace batchlight {

inline int64_t ClosedEnd(const Store& store, int64_t start_ns, int64_t end_ns) {
  if (end_ns != kOpenEnd) return std::max(start_ns, end_ns);
  int64_t stop_ns = store.duration_ns;
  const CaptureWindowsTable& windows = store.capture_windows;
  for (size_t i = 0; i < windows.size(); ++i) {
    if (windows.start_ns[i] <= start_ns && start_ns < windows.end_ns[i]) {
      stop_ns = std::min(stop_ns, windows.end_ns[i]);
    }
  }
  return std::max(start_ns, stop_ns);
}

}  // namespace batchlight
