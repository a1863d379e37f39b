// How far long work has come: written by those who do it, read by those who wait, from any thread.
// The reading of inputs is such a work, and a process does it for one who waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace batchlight {

class WorkProgress {
 public:
  // There is so much more to do, in whatever the work counts: bytes, rows.
  void Expect(uint64_t amount) { expected_ += amount; }
  void Done(uint64_t amount) { done_ += amount; }

  // 0 until something is known.
  double share() const {
    const auto expected = static_cast<double>(expected_.load());
    return expected == 0 ? 0 : std::min(1.0, static_cast<double>(done_.load()) / expected);
  }

 private:
  std::atomic<uint64_t> expected_ = 0;
  std::atomic<uint64_t> done_ = 0;
};

inline WorkProgress& ReadingProgress() {
  static WorkProgress progress;
  return progress;
}

}  // namespace batchlight
