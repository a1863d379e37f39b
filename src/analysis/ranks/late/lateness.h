// Who came last to the calls that all wait in, and what that cost the others.
//
// The kernel of a collective runs until the last rank has come, so that the shortest kernel of a
// call is that of the last rank, and what another's kernel takes longer is waiting: no clocks have
// to be compared. Only waiting that no computing hides is time lost. What a call costs is the
// median of it over the ranks that waited, and it is put down to the rank that came last, less what
// that rank itself had lost, and these had not, since the step began: then others made it late.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/ranks/call_replay.h"
#include "analysis/ranks/late/common_steps.h"
#include "analysis/ranks/late/late_rank.h"
#include "analysis/ranks/rank_calls.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// Of one rank, by step.
struct Lateness {
  std::vector<int64_t> waited_ns;  // of its kernels, for later ranks, hidden or not
  std::vector<int64_t> lost_ns;    // of that: nothing was computed meanwhile
  std::vector<int64_t> cost_ns;    // what others lost because it came last
  uint64_t last = 0;               // calls to which it came last, by more than a tick or two
  uint64_t calls = 0;              // that it shared with others
};

struct JobLateness {
  std::vector<Lateness> ranks;
  bool knows_waits = false;  // some call is known of two ranks
};

// Adds up what the calls of a replay tell, in its order.
class LatenessMeasure {
 public:
  explicit LatenessMeasure(std::span<const RankCalls* const> ranks);

  void Add(std::span<const CallOfRank> call);
  JobLateness Take();

 private:
  // Of a rank, in the step that it is in; ticks.
  struct State {
    uint32_t step = CallOfRank::kNoStep;
    uint32_t calls = 0;  // that it shared
    int64_t waited = 0;
    int64_t lost = 0;
  };

  void LeaveStep(uint32_t rank);
  void Blame(const CallOfRank& last);

  std::vector<State> state_;
  std::vector<uint32_t> lost_;  // by the others in the call at hand, ticks
  int64_t others_before_ = 0;   // the most that one of these had lost before, in its step
  JobLateness job_;
};

JobLateness MeasureLateness(std::span<const RankCalls* const> ranks,
                            const std::vector<FirstNumbers>& first);

// The late rank of a run: a row of steps.processes, and places in `common`, which are the steps of
// the ranks that are compared. nullopt: none, or nobody knows.
std::optional<LateRank> FindLateRankOfRun(const Store& store, const StepSet& steps,
                                          const CommonSteps& common);

}  // namespace batchlight
