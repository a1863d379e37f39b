// How well a sampled function is known: how many looks saw it, and where it was then.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/lines/look_times.h"
#include "timeline/index/timeline.h"

namespace batchlight::timeline {

// Times are whole microseconds: no look is sharper.
struct SampledCall {
  uint64_t looks = 0;    // that saw it
  int64_t apart_ns = 0;  // from one to the next, mean
  uint32_t line = 0;     // that it was in for most of it, itself or calling others; 0: not known
  int64_t line_ns = 0;   // of it
  // In which looks saw it, of the process's own. 0 where that tells nothing of calls: looks saw it
  // outside of all steps for longer than two of them, so that it holds the loop, as the program
  // itself always does. (The first step begins where something was recorded, and a call of it
  // before.)
  uint32_t steps = 0;
  // Of Python: what the thread did in it. Before and after the looks that saw it, up to the middle
  // to the next ones, these tell; what is less than it was in nobody looked at.
  LookTimes times;
};

// Whether events of this kind of track are what samples found.
constexpr bool IsSampled(TrackKind kind) {
  return kind == TrackKind::kPython || kind == TrackKind::kNative;
}

// Answers for the events of sampled tracks.
class SampledCalls {
 public:
  explicit SampledCalls(const Timeline& timeline);  // must outlive this

  // `place` is the event's.
  SampledCall Of(const EventPlace& place, uint32_t ref) const;
  // Of the part of it that lies in this time.
  SampledCall In(const EventPlace& place, uint32_t ref, int64_t from_ns, int64_t to_ns) const;
  // Whether it is known when threads had no processor; else that is in times.waited_ns.
  bool know_ready() const { return know_ready_; }

 private:
  const Timeline& timeline_;
  // How many frames are on each stack.
  std::vector<uint32_t> python_depth_;
  std::vector<uint32_t> native_depth_;
  bool know_ready_;
};

}  // namespace batchlight::timeline
