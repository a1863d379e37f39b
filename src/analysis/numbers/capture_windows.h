// When events were collected.
#pragma once

#include <utility>
#include <vector>

#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/time_span.h"
#include "store/store.h"

namespace batchlight {

// Ordered and disjoint; empty: all the time. One without an end reaches to the last that is known:
// the run goes on, or what recorded it was killed.
inline std::vector<TimeSpan> CaptureWindows(const Store& store) {
  const CaptureWindowsTable& windows = store.capture_windows;
  std::vector<TimeSpan> spans;
  for (size_t i = 0; i < windows.size(); ++i) {
    const int64_t start_ns = windows.start_ns[i];
    spans.push_back({start_ns, ClosedEnd(store, start_ns, windows.end_ns[i])});
  }
  return UnionOf(std::move(spans));
}

}  // namespace batchlight
