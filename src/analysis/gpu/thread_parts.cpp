#include "analysis/gpu/thread_parts.h"

#include <algorithm>

namespace batchlight {

void ThreadParts::Add(ThreadId thread, int64_t start_ns, int64_t end_ns, GpuPart part) {
  thread_.push_back(thread);
  start_ns_.push_back(start_ns);
  end_ns_.push_back(end_ns);
  part_.push_back(part);
}

void ThreadParts::Finish() { index_.emplace(thread_, start_ns_, end_ns_); }

std::optional<GpuPart> ThreadParts::At(ThreadId thread, int64_t time_ns, int64_t* until_ns) const {
  if (thread_.empty()) return std::nullopt;
  const auto [row, next_start_ns] = index_->LookAt(thread, time_ns);
  *until_ns = std::min(*until_ns, next_start_ns);
  if (row == kNoRow) return std::nullopt;
  *until_ns = std::min(*until_ns, end_ns_[row]);
  return part_[row];
}

}  // namespace batchlight
