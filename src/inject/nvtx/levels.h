// How deep a thread is in its push/pop ranges, per domain: NVTX returns it to the program, and a
// pop must only be recorded if its push was.
#pragma once

#include <cstdint>

namespace batchlight::inject::nvtx {

class Levels {
 public:
  // Returns the level of the range that was just pushed. `capture`: SessionState() >> 1.
  // `is_operator`: whether it was recorded as an operator.
  int Push(bool recorded, uint32_t capture, bool is_operator = false) {
    if (recorded && capture != capture_) Enter(capture);
    operators_ = operators_ << 1 | (is_operator ? 1 : 0);
    recorded_ = recorded_ << 1 | (recorded ? 1 : 0);
    return static_cast<int>(depth_++);
  }
  bool empty() const { return depth_ == 0; }
  int depth() const { return static_cast<int>(depth_); }
  // Whether the innermost range was recorded in this capture.
  bool recorded(uint32_t capture) const { return (recorded_ & 1) != 0 && capture == capture_; }
  bool is_operator() const { return (operators_ & 1) != 0; }
  // Returns the level of the range that ends. Not when empty().
  int Pop() {
    // Levels beyond 64 have lost their bit and count as recorded.
    recorded_ = recorded_ >> 1 | uint64_t{1} << 63;
    operators_ >>= 1;
    return static_cast<int>(--depth_);
  }

 private:
  // What earlier captures recorded counts as not recorded in this one.
  void Enter(uint32_t capture) {
    capture_ = capture;
    recorded_ = 0;
  }

  uint64_t recorded_;   // bit 0: the innermost range
  uint64_t operators_;  // likewise
  uint32_t depth_;
  uint32_t capture_;
};

struct Domain;

// The calling thread's levels in the default domain.
extern __thread Levels t_default_levels;
// The same in another domain; nullptr if the thread uses too many domains (128) or there is no
// memory.
Levels* LevelsOf(const Domain* domain);

inline Levels* LevelsIn(const Domain* domain) {
  return domain == nullptr ? &t_default_levels : LevelsOf(domain);
}

// At thread exit.
void ReleaseLevels();

}  // namespace batchlight::inject::nvtx
