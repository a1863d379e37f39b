// Stretches of looks one after the other that found the same: a look stands for the time since the
// one before, so that the next of a row begins where it ends. Each asker has one for each thing
// that it looks for.
#pragma once

#include <algorithm>
#include <utility>

#include "analysis/numbers/time_span.h"

namespace batchlight {

class LooksInARow {
 public:
  // By rising start. Returns the row that `look` does not go on with, which has ended; empty: it
  // goes on, or there is none. Empty looks are left out.
  TimeSpan Add(const TimeSpan& look) {
    if (look.duration_ns() <= 0) return {};
    TimeSpan ended;
    if (open_.duration_ns() <= 0 || look.start_ns > open_.end_ns) {
      ended = std::exchange(open_, look);
    } else {
      open_.end_ns = std::max(open_.end_ns, look.end_ns);
    }
    KeepLonger(longest_, open_);
    return ended;
  }
  // What comes next goes on with nothing; returns the row that was open.
  TimeSpan End() { return std::exchange(open_, {}); }

  // Of all rows; empty: there was none.
  const TimeSpan& longest() const { return longest_; }

 private:
  TimeSpan open_, longest_;
};

}  // namespace batchlight
