#include "analysis/ranks/late/slow_rank.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

constexpr double kWaitsOfLonger =
    0.6;                           // of what one takes longer, the others wait at least so much
constexpr double kExplains = 0.5;  // of the waiting

// The phases of all ranks by steady step, each phase with those of its name on the other ranks.
class PhaseComparison {
 public:
  explicit PhaseComparison(std::span<const RankPhases> ranks) : ranks_(ranks) {
    for (const RankPhases& rank : ranks) common_ = std::min(common_, rank.steady.size());
    if (ranks.empty()) common_ = 0;
    for (size_t rank = 0; rank < ranks.size(); ++rank) AddRank(rank);
    FindLongest();
  }

  size_t common() const { return common_; }

  // What a rank does longer in a step than any other, ns; negative: some other takes longer.
  int64_t LongerNs(size_t rank, size_t phase, size_t step) const {
    const Longest& longest = longest_[numbers_[rank][phase]][step];
    const int64_t others_ns = longest.rank == rank ? longest.second_ns : longest.first_ns;
    return ranks_[rank].phases[phase].NsOf(ranks_[rank].steady[step]) - others_ns;
  }

  // What the others wait in a step for a rank that takes longer for something, ns.
  int64_t CostOfStep(size_t rank, size_t step) const {
    int64_t longer_ns = 0;
    for (size_t phase = 0; phase < ranks_[rank].phases.size(); ++phase) {
      if (MayWait(ranks_[rank].phases[phase].kind)) continue;
      longer_ns = std::max(longer_ns, LongerNs(rank, phase, step));
    }
    if (longer_ns == 0) return 0;
    const Least& least = least_[step];
    const int64_t others_ns = least.rank == rank ? least.second_ns : least.first_ns;
    const int64_t more_ns = std::min(longer_ns, others_ns - waiting_[rank][step]);
    return double(more_ns) < kWaitsOfLonger * double(longer_ns) ? 0 : more_ns;
  }

 private:
  struct Longest {
    size_t rank = SIZE_MAX;
    int64_t first_ns = 0, second_ns = 0;
  };
  struct Least {
    size_t rank = SIZE_MAX;
    int64_t first_ns = INT64_MAX, second_ns = INT64_MAX;
  };

  void AddRank(size_t rank) {
    std::vector<int64_t>& waiting = waiting_.emplace_back(common_);
    std::vector<size_t>& numbers = numbers_.emplace_back();
    for (const PhaseTimes& phase : ranks_[rank].phases) {
      const size_t next = names_.size();
      numbers.push_back(names_.try_emplace({phase.kind, phase.name}, next).first->second);
      if (!MayWait(phase.kind)) continue;
      for (size_t step = 0; step < common_; ++step) {
        waiting[step] += phase.NsOf(ranks_[rank].steady[step]);
      }
    }
  }

  void FindLongest() {
    longest_.assign(names_.size(), std::vector<Longest>(common_));
    least_.resize(common_);
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (size_t phase = 0; phase < ranks_[rank].phases.size(); ++phase) {
        std::vector<Longest>& of_phase = longest_[numbers_[rank][phase]];
        for (size_t step = 0; step < common_; ++step) {
          const int64_t ns = ranks_[rank].phases[phase].NsOf(ranks_[rank].steady[step]);
          Longest& longest = of_phase[step];
          if (longest.rank == SIZE_MAX || ns > longest.first_ns) {
            longest = {rank, ns, longest.rank == SIZE_MAX ? 0 : longest.first_ns};
          } else {
            longest.second_ns = std::max(longest.second_ns, ns);
          }
        }
      }
      for (size_t step = 0; step < common_; ++step) {
        Least& least = least_[step];
        const int64_t ns = waiting_[rank][step];
        if (ns < least.first_ns) {
          least = {rank, ns, least.first_ns};
        } else {
          least.second_ns = std::min(least.second_ns, ns);
        }
      }
    }
  }

  std::span<const RankPhases> ranks_;
  size_t common_ = SIZE_MAX;  // steady steps that every rank has
  std::map<std::pair<PhaseKind, std::string_view>, size_t> names_;
  std::vector<std::vector<size_t>> numbers_;   // of `names_`, by rank and its phase
  std::vector<std::vector<int64_t>> waiting_;  // by rank and step
  std::vector<std::vector<Longest>> longest_;  // by name and step
  std::vector<Least> least_;                   // waiting, by step
};

// The phase that the rank takes longer for than all others, in the steps in which it is late.
void FindPhase(const PhaseComparison& comparison, const RankPhases& rank, SlowRank& slow) {
  for (size_t number = 0; number < rank.phases.size(); ++number) {
    const PhaseTimes& phase = rank.phases[number];
    if (MayWait(phase.kind)) continue;
    std::vector<double> longer_ns;
    for (const uint32_t step : slow.late_steps) {
      if (step >= comparison.common()) continue;
      longer_ns.push_back(double(comparison.LongerNs(slow.rank, number, step)));
    }
    if (longer_ns.empty()) continue;
    const double median_ns = Quantile(longer_ns, 0.5);
    if (median_ns <= slow.longer_ns) continue;
    slow.phase = &phase;
    slow.longer_ns = median_ns;
  }
}

}  // namespace

bool MayWait(PhaseKind kind) {
  return kind == PhaseKind::kBackward || kind == PhaseKind::kCommunication ||
         kind == PhaseKind::kGpuWait;
}

SlowRank ExplainLateRank(std::span<const RankPhases> ranks, const LateRank& late) {
  SlowRank slow{.rank = late.rank, .waited_ns = late.waited_ns, .late_steps = late.late_steps};
  FindPhase(PhaseComparison(ranks), ranks[slow.rank], slow);
  const double all = std::max(1.0, double(ranks[slow.rank].steady.size()));
  const double mean_ns = slow.longer_ns * double(slow.late_steps.size()) / all;
  if (mean_ns < kExplains * slow.waited_ns) slow.phase = nullptr;
  return slow;
}

std::vector<CostOfSteps> CostsByPhases(std::span<const RankPhases> ranks) {
  const PhaseComparison comparison(ranks);
  std::vector<CostOfSteps> costs(ranks.size());
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (size_t step = 0; step < comparison.common(); ++step) {
      costs[rank].push_back(comparison.CostOfStep(rank, step));
    }
  }
  return costs;
}

std::vector<std::vector<int64_t>> WaitsByPhases(std::span<const RankPhases> ranks) {
  size_t common = ranks.empty() ? 0 : SIZE_MAX;
  for (const RankPhases& rank : ranks) common = std::min(common, rank.steady.size());
  std::vector<std::vector<int64_t>> waits;
  std::vector<int64_t> least(common, INT64_MAX);
  for (const RankPhases& rank : ranks) {
    std::vector<int64_t>& of_rank = waits.emplace_back(common);
    for (const PhaseTimes& phase : rank.phases) {
      if (phase.kind != PhaseKind::kCommunication) continue;
      for (size_t step = 0; step < common; ++step) of_rank[step] += phase.NsOf(rank.steady[step]);
    }
    if (std::all_of(of_rank.begin(), of_rank.end(), [](int64_t ns) { return ns == 0; })) return {};
    for (size_t step = 0; step < common; ++step) least[step] = std::min(least[step], of_rank[step]);
  }
  for (std::vector<int64_t>& of_rank : waits) {
    for (size_t step = 0; step < common; ++step) of_rank[step] -= least[step];
  }
  return waits;
}

std::optional<SlowRank> SlowByPhases(std::span<const RankPhases> ranks, double step_ns) {
  const std::optional<LateRank> late = FindLateRank(CostsByPhases(ranks), step_ns);
  if (!late) return std::nullopt;
  return ExplainLateRank(ranks, *late);
}

}  // namespace batchlight
