#include "analysis/forward/operator_loops.h"

#include <algorithm>
#include <utility>

namespace batchlight {
namespace {

// A loop has as many operators that compute, as many of them of one name, and half of them are as
// short.
constexpr uint64_t kLeastInLoop = 150;
constexpr uint64_t kLeastOfAName = 100;
constexpr int64_t kShortNs = 40'000;
// For each call of a module so many of them: layers of a deep model are called one after the other,
// too.
constexpr uint64_t kLeastInModule = 8;
// No part of a loop: an operator that works, a pause. Either may be the processor taken away, so
// that it takes several in a row to end a loop.
constexpr int64_t kLongNs = 1'000'000;
constexpr int kLongInARow = 4;

int64_t Length(const TimeSpan& span) { return span.end_ns - span.start_ns; }

}  // namespace

void OperatorLoops::Take(const OperatorStretch& one, StringId name, bool computes,
                         uint64_t modules) {
  if (IsOverBefore(modules)) End();
  if (Length(one.span) > kLongNs) {
    stretch_ended_ = true;
    if (++long_in_a_row_ >= kLongInARow) End();
    return;
  }
  long_in_a_row_ = 0;
  if (stretch_ended_ || one.span.start_ns - loop_.stretches.back().span.end_ns > kLongNs) {
    loop_.stretches.push_back(one);
  } else {
    loop_.stretches.back().end = one.end;
    loop_.stretches.back().span.end_ns = one.span.end_ns;
  }
  stretch_ended_ = false;
  if (!computes) return;
  if (loop_.operators == 0) first_modules_ = modules;
  last_modules_ = modules;
  ++loop_.operators;
  short_ += Length(one.span) <= kShortNs;
  most_ = std::max(most_, ++names_[name]);
}

// Of what calls modules before a loop, and behind a loop that calls none, as many operators would
// be said to be the loop's as eight for each call leave room for: a whole model.
bool OperatorLoops::IsOverBefore(uint64_t modules) const {
  if (loop_.operators == 0 || modules == last_modules_) return false;
  const bool calls_none = loop_.operators >= kLeastInLoop && last_modules_ == first_modules_;
  return calls_none || loop_.operators < kLeastInModule * (modules - first_modules_);
}

void OperatorLoops::End() {
  stretch_ended_ = true;
  long_in_a_row_ = 0;
  if (loop_.stretches.empty()) return;
  const uint64_t modules = last_modules_ - first_modules_;
  if (loop_.operators >= kLeastInLoop && most_ >= kLeastOfAName && 2 * short_ >= loop_.operators &&
      loop_.operators >= kLeastInModule * modules) {
    found_.push_back(std::exchange(loop_, {}));
  }
  loop_ = {};
  short_ = most_ = 0;
  names_.clear();
}

}  // namespace batchlight
