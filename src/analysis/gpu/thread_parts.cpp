#include "analysis/gpu/thread_parts.h"

#include <algorithm>

namespace batchlight {

int64_t NextStart(std::span<const int64_t> starts, ThreadSpans::Rows rows, int64_t time_ns) {
  const auto begin = starts.begin() + rows.begin;
  const auto end = starts.begin() + rows.end;
  const auto next = std::upper_bound(begin, end, time_ns);
  return next == end ? kOpenEnd : *next;
}

void ThreadParts::Add(ThreadId thread, int64_t start_ns, int64_t end_ns, GpuPart part) {
  thread_.push_back(thread);
  start_ns_.push_back(start_ns);
  end_ns_.push_back(end_ns);
  part_.push_back(part);
}

void ThreadParts::Finish() {
  spans_ = ThreadSpans(thread_);
  index_.emplace(thread_, start_ns_, end_ns_);
}

std::optional<GpuPart> ThreadParts::At(ThreadId thread, int64_t time_ns, int64_t* until_ns) const {
  const ThreadSpans::Rows rows = spans_.Of(thread);
  if (rows.empty()) return std::nullopt;
  *until_ns = std::min(*until_ns, NextStart(start_ns_, rows, time_ns));
  const uint32_t row = index_->Innermost(thread, time_ns);
  if (row == kNoRow) return std::nullopt;
  *until_ns = std::min(*until_ns, end_ns_[row]);
  return part_[row];
}

}  // namespace batchlight
