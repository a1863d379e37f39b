#include "analysis/breakdown/step_breakdown.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/breakdown/breakdown_of_steps.h"
#include "analysis/breakdown/phase_stretches.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

constexpr size_t kMostUserRanges = 8;

// What is over the steps that count.
void SumUp(const ProcessSteps& steps, StepBreakdown& breakdown) {
  breakdown.steady_total_ns = 0;
  for (const uint32_t i : steps.steady) {
    breakdown.steady_total_ns += steps.steps[i].duration_ns();
  }
  for (PhaseShare& share : breakdown.phases) {
    std::vector<int64_t> steady;
    for (const uint32_t i : steps.steady) steady.push_back(share.per_step_ns[i]);
    share.steady = Summarize(std::move(steady));
    share.share = breakdown.steady_total_ns == 0
                      ? 0
                      : double(share.steady.total) / double(breakdown.steady_total_ns);
  }
}

// The steps that a stretch of time touches, and what lies between and beside them as if it were
// steps: as a whole, so that all parts of the same time are cut alike.
ProcessSteps TilesOf(const Store& store, const ProcessSteps& loop, const TimeSpan& within) {
  ProcessSteps tiles{.process = loop.process,
                     .rank = loop.rank,
                     .thread = loop.thread,
                     .source = loop.source,
                     .marker = loop.marker};
  const std::vector<Step>& steps = loop.steps;
  size_t next = StepLookup::FirstUnfinished(steps, within.start_ns);
  int64_t at_ns = next == 0 ? std::min<int64_t>(0, within.start_ns) : steps[next - 1].end_ns;
  const auto add_until = [&](int64_t end_ns) {
    if (at_ns < end_ns) tiles.steps.push_back({.start_ns = at_ns, .end_ns = end_ns});
  };
  for (; next < steps.size() && at_ns < within.end_ns; ++next) {
    add_until(steps[next].start_ns);
    tiles.steps.push_back(steps[next]);
    at_ns = steps[next].end_ns;
  }
  if (at_ns < within.end_ns) add_until(std::max(store.duration_ns, within.end_ns));
  return tiles;
}

class Breakdown {
 public:
  Breakdown(const StepInputs& inputs, const ProcessSteps& steps) : inputs_(inputs), steps_(steps) {
    totals_.assign(static_cast<size_t>(PhaseKind::kOther) + 1,
                   std::vector<int64_t>(steps.steps.size()));
  }

  StepBreakdown Run() {
    VisitPhaseStretches(inputs_, steps_, [this](const PhaseStretch& stretch) {
      Add(stretch, stretch.step, stretch.end_ns - stretch.start_ns);
    });
    KeepLargestUserRanges();
    return Collect();
  }

  // `steps` is one stretch of time, `tiles` are steps that cover it.
  StepBreakdown RunWithin(const ProcessSteps& tiles, const TimeSpan& within) {
    VisitPhaseStretches(inputs_, tiles, [&](const PhaseStretch& stretch) {
      const TimeSpan part = PartInside({stretch.start_ns, stretch.end_ns}, within);
      if (part.duration_ns() > 0) Add(stretch, 0, part.duration_ns());
    });
    KeepLargestUserRanges();
    return Collect();
  }

 private:
  void Add(const PhaseStretch& stretch, uint32_t step, int64_t ns) {
    if (stretch.kind == PhaseKind::kUserRange) {
      AddUserTime(stretch.range, step, ns);
    } else {
      Of(stretch.kind)[step] += ns;
    }
  }

  std::vector<int64_t>& Of(PhaseKind kind) { return totals_[static_cast<size_t>(kind)]; }

  // Only the steps in which a range occurs are kept, since there may be as many names as steps.
  void AddUserTime(StringId message, uint32_t step, int64_t ns) {
    const auto [known, unseen] = user_of_message_.try_emplace(message, 0);
    if (unseen) {
      std::string name = NameWithoutNumbers(inputs_.store.Text(message));
      const auto [slot, added] = user_of_name_.try_emplace(name, user_.size());
      if (added) user_.push_back({.name = std::move(name)});
      known->second = slot->second;
    }
    UserRangeTime& range = user_[known->second];
    range.total_ns += ns;
    if (!range.times.empty() && range.times.back().first == step) {
      range.times.back().second += ns;
    } else {
      range.times.emplace_back(step, ns);
    }
  }

  void KeepLargestUserRanges() {
    std::stable_sort(user_.begin(), user_.end(),
                     [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
    for (size_t u = kMostUserRanges; u < user_.size(); ++u) {
      for (const auto& [step, ns] : user_[u].times) Of(PhaseKind::kOther)[step] += ns;
    }
    if (user_.size() > kMostUserRanges) user_.resize(kMostUserRanges);
  }

  StepBreakdown Collect() {
    StepBreakdown result{.process = steps_.process};
    for (size_t kind = 0; kind < totals_.size(); ++kind) {
      if (static_cast<PhaseKind>(kind) == PhaseKind::kUserRange) {
        for (UserRangeTime& range : user_) {
          std::vector<int64_t> per_step(steps_.steps.size());
          for (const auto& [step, ns] : range.times) per_step[step] += ns;
          Add(result, PhaseKind::kUserRange, std::move(range.name), std::move(per_step));
        }
        continue;
      }
      Add(result, static_cast<PhaseKind>(kind),
          std::string(PhaseKindName(static_cast<PhaseKind>(kind))), std::move(totals_[kind]));
    }
    SumUp(steps_, result);
    return result;
  }

  static void Add(StepBreakdown& result, PhaseKind kind, std::string name,
                  std::vector<int64_t> per_step) {
    if (std::all_of(per_step.begin(), per_step.end(), [](int64_t ns) { return ns == 0; })) return;
    PhaseShare& share = result.phases.emplace_back();
    share.kind = kind;
    share.name = std::move(name);
    share.per_step_ns = std::move(per_step);
  }

  struct UserRangeTime {
    std::string name;
    int64_t total_ns = 0;
    std::vector<std::pair<uint32_t, int64_t>> times;  // step, ns
  };

  const StepInputs& inputs_;
  const ProcessSteps& steps_;
  std::vector<std::vector<int64_t>> totals_;  // by PhaseKind, then step
  std::vector<UserRangeTime> user_;
  std::unordered_map<StringId, size_t> user_of_message_;
  std::unordered_map<std::string, size_t> user_of_name_;
};

}  // namespace

std::vector<StepExcess> LargestExcesses(std::vector<StepExcess> all) {
  std::erase_if(all, [](const StepExcess& one) { return one.excess_ns <= 0; });
  std::stable_sort(all.begin(), all.end(), [](const StepExcess& a, const StepExcess& b) {
    return a.excess_ns > b.excess_ns;
  });
  const int64_t largest_ns = all.empty() ? 0 : all.front().excess_ns;
  std::erase_if(all, [&](const StepExcess& one) { return one.excess_ns * 10 < largest_ns; });
  return all;
}

std::vector<StepExcess> ExplainStep(const StepBreakdown& breakdown, size_t step) {
  std::vector<StepExcess> all;
  for (uint32_t i = 0; i < breakdown.phases.size(); ++i) {
    const PhaseShare& phase = breakdown.phases[i];
    all.push_back({i, phase.per_step_ns[step] - phase.steady.median});
  }
  return LargestExcesses(std::move(all));
}

std::vector<StepBreakdown> BreakDownSteps(const StepInputs& inputs, const StepSet& steps) {
  std::vector<StepBreakdown> breakdowns;
  for (const ProcessSteps& process : steps.processes) {
    breakdowns.push_back(Breakdown(inputs, process).Run());
  }
  return breakdowns;
}

std::vector<StepBreakdown> BreakdownsWithin(const StepInputs& inputs, const StepSet& loop,
                                            const StepSet& within) {
  std::vector<StepBreakdown> breakdowns;
  for (const ProcessSteps& process : within.processes) {
    const ProcessSteps tiles = TilesOf(inputs.store, *loop.Of(process.process), *within.within);
    breakdowns.push_back(Breakdown(inputs, process).RunWithin(tiles, *within.within));
  }
  return breakdowns;
}

std::vector<StepBreakdown> BreakdownsOfSteps(std::vector<StepBreakdown> breakdowns,
                                             const StepSet& steps) {
  for (size_t i = 0; i < breakdowns.size(); ++i) SumUp(steps.processes[i], breakdowns[i]);
  return breakdowns;
}

}  // namespace batchlight
