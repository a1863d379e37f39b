#include "analysis/partial/job_what_if.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace batchlight {
namespace {

constexpr double kHealed = 0.03;  // of the workers
constexpr double kSecond = 1e9;

class Asker {
 public:
  explicit Asker(std::span<const RankOwnSteps> ranks) : ranks_(ranks) {
    for (const RankOwnSteps& rank : ranks_) steps_ = std::max(steps_, rank.rows.size());
    ideal_ns_ = MeanOfRanks([](const RankOwnSteps& rank, size_t step) { return rank.OwnNs(step); });
    const std::vector<double> length_ns =
        MeanOfRanks([](const RankOwnSteps& rank, size_t step) { return rank.StepNs(step); });
    const double slowest_ns = Slowest([&](size_t row, size_t step) { return Own(row, step); });
    rest_ns_ = std::max(0.0, MeanOf(length_ns) - slowest_ns);
    step_ns_ = slowest_ns + rest_ns_;
    ideal_step_ns_ = MeanOf(ideal_ns_) + rest_ns_;
  }

  std::optional<WhatIf> Ask() const {
    if (ranks_.size() < 2 || steps_ == 0 || ideal_step_ns_ <= 0) return std::nullopt;
    WhatIf found{.step_s = step_ns_ / kSecond, .ideal_s = ideal_step_ns_ / kSecond};
    AddWorkers(found);
    AddStages(found);
    AddWorks(found);
    return found;
  }

 private:
  double Own(size_t row, size_t step) const { return double(ranks_[row].OwnNs(step)); }
  // By step, over the ranks that have it.
  template <typename NsOf>
  std::vector<double> MeanOfRanks(const NsOf& ns) const {
    std::vector<double> mean(steps_), count(steps_);
    for (const RankOwnSteps& rank : ranks_) {
      for (size_t step = 0; step < rank.rows.size(); ++step) {
        mean[step] += double(ns(rank, step));
        ++count[step];
      }
    }
    for (size_t step = 0; step < steps_; ++step) mean[step] /= count[step];
    return mean;
  }

  static double MeanOf(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return values.empty() ? 0 : sum / double(values.size());
  }

  // Mean over steps of what the slowest rank takes by `ns(row, step)`.
  template <typename NsOf>
  double Slowest(const NsOf& ns) const {
    std::vector<double> most(steps_);
    for (size_t row = 0; row < ranks_.size(); ++row) {
      for (size_t step = 0; step < ranks_[row].rows.size(); ++step) {
        most[step] = std::max(most[step], ns(row, step));
      }
    }
    return MeanOf(most);
  }

  // The ideal step with so much more in all steps together, as a whole ideal step.
  double Slowdown(double more_ns) const { return 1 + more_ns / double(steps_) / ideal_step_ns_; }

  // The step if these ranks take the ideal time.
  template <typename IsHealed>
  double WithoutNs(const IsHealed& is_healed) const {
    return rest_ns_ + Slowest([&](size_t row, size_t step) {
             return is_healed(ranks_[row]) ? ideal_ns_[step] : Own(row, step);
           });
  }

  void AddWorkers(WhatIf& found) const {
    for (const RankOwnSteps& rank : ranks_) {
      double more_ns = 0;
      for (size_t step = 0; step < rank.rows.size(); ++step) {
        more_ns += std::max(0.0, double(rank.OwnNs(step)) - ideal_ns_[step]);
      }
      found.workers.push_back({rank.rank, rank.replica, rank.stage, Slowdown(more_ns)});
    }
    std::stable_sort(found.workers.begin(), found.workers.end(),
                     [](const auto& a, const auto& b) { return a.slowdown > b.slowdown; });
    const double share = double(ranks_.size()) * kHealed;
    found.healed = static_cast<size_t>(std::ceil(share));
    std::unordered_set<int32_t> healed;
    for (size_t i = 0; i < found.healed; ++i) healed.insert(found.workers[i].rank);
    found.without_workers_s =
        WithoutNs([&](const RankOwnSteps& rank) { return healed.contains(rank.rank); }) / kSecond;
  }

  void AddStages(WhatIf& found) const {
    std::map<int32_t, std::vector<const RankOwnSteps*>> stages;
    for (const RankOwnSteps& rank : ranks_) stages[rank.stage].push_back(&rank);
    for (const auto& [stage, ranks] : stages) {
      std::vector<double> most_ns;  // more than the ideal, by step
      for (const RankOwnSteps* rank : ranks) {
        most_ns.resize(std::max(most_ns.size(), rank->rows.size()));
        for (size_t step = 0; step < rank->rows.size(); ++step) {
          most_ns[step] = std::max(most_ns[step], double(rank->OwnNs(step)) - ideal_ns_[step]);
        }
      }
      found.stages.push_back({"stage " + std::to_string(stage),
                              Slowdown(std::accumulate(most_ns.begin(), most_ns.end(), 0.0))});
    }
    const int32_t last = stages.rbegin()->first;
    found.without_stage_s =
        WithoutNs([&](const RankOwnSteps& rank) { return last > 0 && rank.stage == last; }) /
        kSecond;
  }

  // As much of a work more than in the mean as the rank has that has most of it, but no more than
  // is lost in all.
  void AddWorks(WhatIf& found) const {
    using Having = std::pair<const RankOwnSteps*, const OwnWork*>;
    std::map<std::string_view, std::vector<Having>> works;
    std::vector<double> count(steps_);  // of ranks, by step
    for (const RankOwnSteps& rank : ranks_) {
      for (size_t step = 0; step < rank.rows.size(); ++step) ++count[step];
      for (const OwnWork& work : rank.works) works[work.name].emplace_back(&rank, &work);
    }
    // One after the other, of as many steps as they have: each rank of a forged job may have
    // thousands of its own.
    for (const auto& [name, having] : works) {
      std::vector<int64_t> most_ns, all_ns;  // by step
      for (const auto& [rank, work] : having) {
        most_ns.resize(std::max(most_ns.size(), rank->rows.size()));
        all_ns.resize(most_ns.size());
        for (size_t step = 0; step < rank->rows.size(); ++step) {
          const int64_t ns = rank->WorkNs(*work, step);
          most_ns[step] = std::max(most_ns[step], ns);
          all_ns[step] += ns;
        }
      }
      double more_ns = 0;
      for (size_t step = 0; step < most_ns.size(); ++step) {
        more_ns += double(most_ns[step]) - double(all_ns[step]) / count[step];
      }
      found.works.push_back({std::string(name), std::min(Slowdown(more_ns), found.slowdown())});
    }
    std::stable_sort(found.works.begin(), found.works.end(),
                     [](const auto& a, const auto& b) { return a.slowdown > b.slowdown; });
  }

  const std::span<const RankOwnSteps> ranks_;
  size_t steps_ = 0;
  std::vector<double> ideal_ns_;  // that a rank takes for itself, by step
  double rest_ns_ = 0;            // what else a step has
  double step_ns_ = 0;
  double ideal_step_ns_ = 0;
};

// What a rank spends in Send and Recv while nothing is computed, by step: the bubble. Empty: none.
std::vector<int64_t> BetweenTwoNs(const RankPartial& rank) {
  const RankCalls& calls = rank.calls;
  std::vector<bool> between;  // by kind
  for (const CallKind& kind : calls.kinds) between.push_back(IsBetweenTwo(kind.operation));
  std::vector<int64_t> ns;
  if (std::find(between.begin(), between.end(), true) == between.end()) return ns;
  for (size_t step = 0; step + 1 < calls.step_begin.size(); ++step) {
    int64_t& of_step = ns.emplace_back();
    for (uint32_t call = calls.step_begin[step]; call < calls.step_begin[step + 1]; ++call) {
      if (between[calls.kind[call]]) of_step += int64_t{calls.exposed[call]} * kCallTickNs;
    }
  }
  return ns;
}

}  // namespace

int64_t RankOwnSteps::OwnNs(size_t step) const {
  const uint32_t row = rows[step];
  const int64_t waited_ns =
      (row < lost_ns.size() ? lost_ns[row] : 0) + (row < between_ns.size() ? between_ns[row] : 0);
  return step_ns[row] > waited_ns ? step_ns[row] - waited_ns : 0;  // of a forged file any number
}

int64_t RankOwnSteps::WorkNs(const OwnWork& work, size_t step) const {
  const uint32_t row = rows[step];
  return row < work.per_step_us.size() ? int64_t{work.per_step_us[row]} * 1000 : 0;
}

RankOwnSteps OwnStepsOf(const RankPartial& rank, std::span<const uint32_t> rows,
                        std::span<const int64_t> lost_ns) {
  RankOwnSteps own{
      .rows = rows, .step_ns = rank.step_ns, .lost_ns = lost_ns, .between_ns = BetweenTwoNs(rank)};
  for (const PhaseTimes& phase : rank.phases) {
    if (!MayWait(phase.kind)) own.works.push_back({phase.name, phase.per_step_us});
  }
  if (std::any_of(rank.pace.gpu_us.begin(), rank.pace.gpu_us.end(),
                  [](uint32_t us) { return us > 0; })) {
    own.works.push_back({"GPU", rank.pace.gpu_us});
  }
  return own;
}

std::optional<WhatIf> AskJobWhatIf(std::span<const RankOwnSteps> ranks) {
  return Asker(ranks).Ask();
}

}  // namespace batchlight
