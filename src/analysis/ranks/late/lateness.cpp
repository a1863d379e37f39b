#include "analysis/ranks/late/lateness.h"

#include <algorithm>

#include "analysis/numbers/quantile.h"
#include "analysis/ranks/nccl_calls.h"

namespace batchlight {
namespace {

constexpr uint32_t kTogetherTicks = 125;  // 2 us: ranks come together

}  // namespace

LatenessMeasure::LatenessMeasure(std::span<const RankCalls* const> ranks) : state_(ranks.size()) {
  for (const RankCalls* calls : ranks) {
    const size_t steps = calls->step_begin.empty() ? 0 : calls->step_begin.size() - 1;
    job_.ranks.push_back({.waited_ns = std::vector<int64_t>(steps),
                          .lost_ns = std::vector<int64_t>(steps),
                          .cost_ns = std::vector<int64_t>(steps)});
  }
}

void LatenessMeasure::Add(std::span<const CallOfRank> call) {
  const CallOfRank* last = nullptr;
  size_t known = 0;
  for (const CallOfRank& one : call) {
    if (one.kernel == 0) continue;
    ++known;
    if (last == nullptr || one.kernel < last->kernel) last = &one;
  }
  if (known < 2) return;
  job_.knows_waits = true;
  lost_.clear();
  others_before_ = 0;
  for (const CallOfRank& one : call) {
    if (one.kernel == 0) continue;
    State& state = state_[one.rank];
    if (one.step != state.step || one.step == CallOfRank::kNoStep) {
      LeaveStep(one.rank);
      state.step = one.step;
    }
    ++state.calls;
    if (&one == last) continue;
    const uint32_t waited = one.kernel - last->kernel;
    const uint32_t exposed = one.exposed > last->kernel ? one.exposed - last->kernel : 0;
    const uint32_t lost = std::min(waited, exposed);
    lost_.push_back(lost);
    others_before_ = std::max(others_before_, state.lost);
    state.waited += waited;
    state.lost += lost;
  }
  Blame(*last);
}

JobLateness LatenessMeasure::Take() {
  for (uint32_t rank = 0; rank < state_.size(); ++rank) LeaveStep(rank);
  return std::move(job_);
}

void LatenessMeasure::LeaveStep(uint32_t rank) {
  State& state = state_[rank];
  job_.ranks[rank].calls += state.calls;
  if (state.step != CallOfRank::kNoStep) {
    job_.ranks[rank].waited_ns[state.step] += state.waited * kCallTickNs;
    job_.ranks[rank].lost_ns[state.step] += state.lost * kCallTickNs;
  }
  state = {};
}

void LatenessMeasure::Blame(const CallOfRank& last) {
  const int64_t lost = LowerQuantile(lost_, 0.5);
  if (lost <= kTogetherTicks) return;
  Lateness& rank = job_.ranks[last.rank];
  ++rank.last;
  const State& state = state_[last.rank];
  const int64_t cost = lost - std::max<int64_t>(0, state.lost - others_before_);
  if (cost > 0 && state.step != CallOfRank::kNoStep) rank.cost_ns[state.step] += cost * kCallTickNs;
}

JobLateness MeasureLateness(std::span<const RankCalls* const> ranks,
                            const std::vector<FirstNumbers>& first) {
  LatenessMeasure measure(ranks);
  ReplayCalls(ranks, first, [&](std::span<const CallOfRank> call) { measure.Add(call); });
  return measure.Take();
}

std::optional<LateRank> FindLateRankOfRun(const Store& store, const StepSet& steps,
                                          const CommonSteps& common) {
  const std::vector<RankCalls> calls = CollectRankCalls(store, FindNcclCalls(store), steps);
  std::vector<const RankCalls*> ranks;
  for (const RankCalls& rank : calls) ranks.push_back(&rank);
  const JobLateness late = MeasureLateness(ranks, NumberCalls(ranks, {}));
  if (!late.knows_waits) return std::nullopt;
  std::vector<CostOfSteps> costs;
  std::vector<double> step_ns;
  for (size_t i = 0; i < steps.processes.size(); ++i) {
    const ProcessSteps& process = steps.processes[i];
    CostOfSteps& of_rank = costs.emplace_back();
    const std::vector<int64_t>& all = late.ranks[process.process.row()].cost_ns;
    for (const uint32_t step : common.rows[i]) of_rank.push_back(step < all.size() ? all[step] : 0);
    step_ns.push_back(double(process.duration.median));
  }
  return FindLateRank(costs, step_ns.empty() ? 0 : Quantile(step_ns, 0.5));
}

}  // namespace batchlight
