// Intervals that say what a thread was doing in the training loop: traced calls (phase_calls; saves
// with what belongs to their file, save_spans.h),
// ranges of the user with well-known names, PyTorch's own record_function names, and forwards of
// modules that no other module called. Steps and their breakdown are made from these.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/phases/phase_kind.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

struct PhaseMark {
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // never kOpenEnd: cut at the end of the session
  ThreadId thread;
  StringId name;
  PhaseKind kind = PhaseKind::kOther;
  bool implied = false;       // a module's forward, an evaluation found by itself: used only where
                              // nothing else says what it is
  bool of_step = false;       // of a rollout: before most updates, so a part of the iteration
  bool loader_start = false;  // creates a DataLoader's iterator
};

class PhaseMarks {
 public:
  explicit PhaseMarks(const Store& store);

  // Ordered by (thread, start, longest first).
  const std::vector<PhaseMark>& all() const { return marks_; }
  ThreadSpans::Rows RowsOf(ThreadId thread) const { return spans_.Of(thread); }
  // Marks of one kind on one thread that lie in no other of that kind; implied ones left out.
  std::vector<PhaseMark> Outermost(ThreadId thread, PhaseKind kind) const;

 private:
  void AddPhaseCalls(const Store& store);
  void AddRanges(const Store& store);
  void AddOperators(const Store& store);
  void AddModules(const Store& store);
  void Insert(const std::vector<PhaseMark>& more);
  void Order();

  std::vector<PhaseMark> marks_;
  ThreadSpans spans_;
};

PhaseKind PhaseKindOfCall(Phase phase);  // of a row of phase_calls; kOther: says nothing
// Whether a row of phase_calls tells of the life of the program rather than of its training loop.
bool TellsOfLife(Phase phase);
// Whether it says nothing of a loop: that, or a garbage collection, which comes when it comes, or
// what the recorder does itself.
inline bool IsOutsideOfLoops(Phase phase) {
  return TellsOfLife(phase) || phase == Phase::kGarbageCollection || phase == Phase::kLook;
}

// Whether an optimizer of the thread updates all parameters of a group in one operator
// (aten::_fused_adamw_, and not aten::_fused_rms_norm): what else its phase runs is the program's
// own (a callback before the step, a hook, a closure), or steps counters one by one.
bool HasFusedUpdates(const Store& store, ThreadId thread);

}  // namespace batchlight
