#include "analysis/ranks/lateness.h"

#include <algorithm>

#include "analysis/numbers/quantile.h"
#include "analysis/ranks/call_replay.h"
#include "analysis/ranks/nccl_calls.h"

namespace batchlight {
namespace {

constexpr uint32_t kTogetherTicks = 125;  // 2 us: ranks come together

class Measure {
 public:
  explicit Measure(std::span<const RankCalls* const> ranks) : ranks_(ranks), state_(ranks.size()) {
    for (const RankCalls* calls : ranks) {
      const size_t steps = calls->step_begin.empty() ? 0 : calls->step_begin.size() - 1;
      job_.ranks.push_back({.waited_ns = std::vector<int64_t>(steps),
                            .lost_ns = std::vector<int64_t>(steps),
                            .cost_ns = std::vector<int64_t>(steps)});
    }
  }

  void Add(std::span<const CallOfRank> call) {
    known_.clear();
    for (const CallOfRank& one : call) {
      if (ranks_[one.rank]->kernel[one.call] > 0) known_.push_back(one);
    }
    if (known_.size() < 2) return;
    job_.knows_waits = true;
    const auto kernel_of = [&](const CallOfRank& one) {
      return ranks_[one.rank]->kernel[one.call];
    };
    const CallOfRank last = *std::min_element(
        known_.begin(), known_.end(),
        [&](const CallOfRank& a, const CallOfRank& b) { return kernel_of(a) < kernel_of(b); });
    const uint32_t shortest = kernel_of(last);
    lost_.clear();
    lost_before_.clear();
    for (const CallOfRank& one : known_) {
      const size_t step = StepOf(one);
      Lateness& rank = job_.ranks[one.rank];
      ++rank.calls;
      if (one.rank == last.rank) continue;
      const uint32_t waited = kernel_of(one) - shortest;
      const uint32_t exposed = ranks_[one.rank]->exposed[one.call];
      const uint32_t lost = std::min(waited, exposed > shortest ? exposed - shortest : 0);
      lost_.push_back(lost);
      lost_before_.push_back(state_[one.rank].lost);
      state_[one.rank].lost += lost;
      if (step == SIZE_MAX) continue;
      rank.waited_ns[step] += waited * kCallTickNs;
      rank.lost_ns[step] += lost * kCallTickNs;
    }
    Blame(last);
  }

  JobLateness Take() { return std::move(job_); }

 private:
  struct State {
    size_t step = SIZE_MAX;
    size_t begin = 0;  // first call of the step
    size_t end = 0;    // one after its last
    int64_t lost = 0;  // ticks since the step began
  };

  // Calls of a rank come in order, so that most are in the step of the one before.
  size_t StepOf(const CallOfRank& one) {
    State& state = state_[one.rank];
    if (one.call >= state.begin && one.call < state.end) return state.step;
    const RankCalls& calls = *ranks_[one.rank];
    state.step = calls.StepOf(one.call);
    state.lost = 0;
    state.begin = one.call;
    state.end = state.step == SIZE_MAX ? one.call + 1 : calls.step_begin[state.step + 1];
    return state.step;
  }

  void Blame(const CallOfRank& last) {
    const int64_t lost = MedianOf(lost_);
    if (lost <= kTogetherTicks) return;
    Lateness& rank = job_.ranks[last.rank];
    ++rank.last;
    const int64_t own_before = state_[last.rank].lost;
    const int64_t others_before = *std::max_element(lost_before_.begin(), lost_before_.end());
    const int64_t cost = lost - std::max<int64_t>(0, own_before - others_before);
    const size_t step = state_[last.rank].step;
    if (cost > 0 && step != SIZE_MAX) rank.cost_ns[step] += cost * kCallTickNs;
  }

  static int64_t MedianOf(std::vector<int64_t>& values) { return LowerQuantile(values, 0.5); }

  std::span<const RankCalls* const> ranks_;
  std::vector<State> state_;
  std::vector<CallOfRank> known_;
  std::vector<int64_t> lost_, lost_before_;  // of the call at hand, in ticks
  JobLateness job_;
};

}  // namespace

JobLateness MeasureLateness(std::span<const RankCalls* const> ranks,
                            const std::vector<FirstNumbers>& first) {
  Measure measure(ranks);
  ReplayCalls(ranks, first, [&](std::span<const CallOfRank> call) { measure.Add(call); });
  return measure.Take();
}

std::optional<LateRank> FindLateRankOfRun(const Store& store, const StepSet& steps) {
  const std::vector<RankCalls> calls = CollectRankCalls(store, FindNcclCalls(store), steps);
  std::vector<const RankCalls*> ranks;
  for (const RankCalls& rank : calls) ranks.push_back(&rank);
  const JobLateness late = MeasureLateness(ranks, NumberCalls(ranks, {}));
  if (!late.knows_waits) return std::nullopt;
  std::vector<CostOfSteps> costs;
  std::vector<double> step_ns;
  for (const ProcessSteps& process : steps.processes) {
    CostOfSteps& of_rank = costs.emplace_back();
    const std::vector<int64_t>& all = late.ranks[process.process.row()].cost_ns;
    for (const uint32_t step : process.steady) of_rank.push_back(step < all.size() ? all[step] : 0);
    step_ns.push_back(double(process.duration.median));
  }
  return FindLateRank(costs, step_ns.empty() ? 0 : Quantile(step_ns, 0.5));
}

}  // namespace batchlight
