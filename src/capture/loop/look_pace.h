// How long to wait between looks, so that looking takes at most a share of a processor, however
// many threads and processes there are: then it looks less often, and each look stands for more.
#pragma once

#include <cstdint>

namespace batchlight::capture {

class LookPace {
 public:
  // Looking takes 1 / `part` of a processor at most.
  explicit LookPace(int64_t part) : part_(part) {}

  // After a look that took `spent_ns` of processor time. One that took long once (pages that had to
  // be fetched, names that had to be read) is waited for over the looks that follow: waited for at
  // once it would be a hole in the run, or its end.
  int64_t LeastWaitNs(int64_t spent_ns) {
    owed_ns_ += spent_ns * part_;
    const int64_t wait_ns = owed_ns_ / kLooks;
    owed_ns_ -= wait_ns;
    return wait_ns;
  }

 private:
  static constexpr int64_t kLooks = 8;
  const int64_t part_;
  int64_t owed_ns_ = 0;
};

}  // namespace batchlight::capture
