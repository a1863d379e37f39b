#include "timeline/rows/lanes.h"

#include <algorithm>

namespace batchlight::timeline {
namespace {

// Rows looked at for a free one; what finds none goes below all. Keeps hostile input linear.
constexpr size_t kMostLooked = 64;

}  // namespace

size_t NestedLanes::FirstFree(int64_t start_ns) const {
  const size_t looked = std::min(open_, kMostLooked);
  for (size_t lane = 0; lane < looked; ++lane) {
    if (ends_[lane] <= start_ns) return lane;
  }
  return open_;
}

size_t NestedLanes::Place(int64_t start_ns, int64_t end_ns) {
  while (open_ > 0 && ends_[open_ - 1] <= start_ns) --open_;
  const bool nests = open_ == 0 || end_ns <= ends_[open_ - 1];
  const size_t lane = nests ? open_ : FirstFree(start_ns);
  if (lane == ends_.size()) ends_.push_back(end_ns);
  ends_[lane] = end_ns;
  open_ = std::max(open_, lane + 1);
  return lane;
}

size_t FreeLanes::Place(int64_t start_ns, int64_t end_ns) {
  while (!busy_.empty() && busy_.top().first <= start_ns) {
    free_.push(busy_.top().second);
    busy_.pop();
  }
  size_t lane = lanes_;
  if (free_.empty()) {
    ++lanes_;
  } else {
    lane = free_.top();
    free_.pop();
  }
  busy_.emplace(end_ns, lane);
  return lane;
}

}  // namespace batchlight::timeline
