#include "analysis/phases/capture_starts.h"

#include <algorithm>

namespace batchlight {

CaptureStarts::CaptureStarts(const Store& store, ProcessId process) {
  windows_ = store.capture_windows.start_ns;
  std::sort(windows_.begin(), windows_.end());
  if (store.Property("session.step_windows").empty()) return;
  for (const int64_t start_ns : windows_) {
    if (start_ns > store.processes.start_ns[process.row()]) starts_.push_back(start_ns);
  }
}

int64_t CaptureStarts::LastWindow(int64_t time_ns) const {
  const auto after = std::upper_bound(windows_.begin(), windows_.end(), time_ns);
  return after == windows_.begin() ? INT64_MIN : *(after - 1);
}

std::optional<int64_t> CaptureStarts::OpenedWithin(int64_t begin_ns, int64_t end_ns) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), end_ns);
  if (after == starts_.begin() || *(after - 1) < begin_ns) return std::nullopt;
  return *(after - 1);
}

}  // namespace batchlight
