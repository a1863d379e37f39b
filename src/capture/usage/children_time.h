// Processor time of programs that a process has started and waited for. The kernel adds it up; of
// those that were looked at themselves, their own records tell it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace batchlight::capture {

class ChildrenTime {
 public:
  // Records have told `ns` of a child that is gone, and of those that it had waited for.
  void Told(uint64_t ns) {
    told_ns_ += ns;
    all_told_ns_ += ns;
  }

  // `waited_ns`: of all children that were waited for so far. Returns what no other record tells,
  // from the first call on; it never falls.
  uint64_t Untold(uint64_t waited_ns) {
    const uint64_t more_ns = known_ && waited_ns > waited_ns_ ? waited_ns - waited_ns_ : 0;
    known_ = true;
    waited_ns_ = std::max(waited_ns_, waited_ns);
    // A child may be waited for before or after it is seen to be gone.
    const uint64_t told_ns = std::min(told_ns_, more_ns);
    told_ns_ -= told_ns;
    untold_ns_ += more_ns - told_ns;
    return untold_ns_;
  }

  uint64_t all_told_ns() const { return all_told_ns_; }

 private:
  bool known_ = false;
  uint64_t waited_ns_ = 0;
  uint64_t told_ns_ = 0;  // and not yet in waited_ns_
  uint64_t all_told_ns_ = 0;
  uint64_t untold_ns_ = 0;
};

}  // namespace batchlight::capture
