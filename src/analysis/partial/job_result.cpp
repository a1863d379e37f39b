#include "analysis/partial/job_result.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/numbers/quantile.h"
#include "analysis/partial/job_what_if.h"
#include "analysis/ranks/call_replay.h"
#include "analysis/ranks/clock_alignment.h"
#include "analysis/ranks/late/common_steps.h"
#include "analysis/ranks/late/lateness.h"
#include "analysis/ranks/late/rank_pace.h"
#include "analysis/ranks/late/slow_rank.h"

namespace batchlight {
namespace {

constexpr double kMostOfCosts = 0.5;
// Each takes a number of each rank. A run has some twenty; a forged file may give each rank its
// own.
constexpr size_t kMostPhases = 256;

template <typename T>
double MeanOver(const std::vector<T>& values, const std::vector<uint32_t>& rows) {
  double sum = 0;
  for (const uint32_t row : rows) sum += row < values.size() ? double(values[row]) : 0;
  return rows.empty() ? 0 : sum / double(rows.size());
}

double MedianStep(const RankPartial& rank) {
  std::vector<int64_t> lengths;
  for (const uint32_t row : rank.steady) lengths.push_back(rank.step_ns[row]);
  return lengths.empty() ? 0 : Quantile(lengths, 0.5);
}

class Comparer {
 public:
  Comparer(std::vector<JobPart> parts, JobClock clock, std::optional<RankGrid> grid)
      : parts_(std::move(parts)), clock_(clock) {
    result_.grid = std::move(grid);
  }

  Result<JobResult> Run() {
    RETURN_IF_ERROR(ChooseParts());
    RETURN_IF_ERROR(CheckGrid());
    for (const Member& member : members_) calls_.push_back(&member.partial->calls);
    std::vector<int64_t> clock_ns;
    for (const Member& member : members_) clock_ns.push_back(StartOf(*member.part));
    first_ = NumberCalls(calls_, clock_ns);
    NameClocks();
    Replay();
    WaitByPhases();
    FillRanks();
    FillSteps();
    FindJobStraggler();
    AskWhatIf();
    KeepDetails();
    return std::move(result_);
  }

 private:
  struct Member {
    const JobPart* part;
    const RankPartial* partial;
    int32_t rank;
  };

  Status ChooseParts() {
    std::vector<InputIdentity> identities;
    for (const JobPart& part : parts_) identities.push_back(part.identity);
    ASSIGN_OR_RETURN(const JobPlan plan, PlanJob(identities));
    result_.notes = plan.missing;
    result_.notes.insert(result_.notes.end(), plan.notes.begin(), plan.notes.end());
    result_.inputs = plan.used.size();
    for (size_t i = 0; i < plan.used.size(); ++i) {
      const JobPart& part = parts_[plan.used[i]];
      result_.losses += part.losses;
      result_.world_size = std::max(result_.world_size, part.identity.world_size);
      if (part.ranks.empty()) result_.notes.push_back(part.identity.label + " has no step");
      for (const RankPartial& rank : part.ranks) {
        const int32_t number = rank.rank >= 0 ? rank.rank : plan.assigned[i];
        members_.push_back({&part, &rank, number});
      }
    }
    std::stable_sort(members_.begin(), members_.end(),
                     [](const Member& a, const Member& b) { return a.rank < b.rank; });
    FindCommon();
    SayStepCounts();
    return {};
  }

  // Elements of a vector stay where they are when it is moved.
  void KeepDetails() {
    for (size_t i = 0; i < members_.size(); ++i) {
      result_.details.push_back(
          {members_[i].partial, std::move(late_.ranks[i]), std::move(first_[i])});
    }
    result_.parts = std::move(parts_);
  }

  // Ranks that the job has, as far as is known.
  uint64_t RanksOfJob() const {
    int64_t ranks = result_.world_size;
    for (const Member& member : members_) ranks = std::max(ranks, int64_t{member.rank} + 1);
    return static_cast<uint64_t>(ranks);
  }

  Status CheckGrid() const {
    if (!result_.grid || result_.grid->size() == RanksOfJob()) return {};
    return InputError("the grid " + result_.grid->Text() + " is of " +
                      std::to_string(result_.grid->size()) + " ranks, the job of " +
                      std::to_string(RanksOfJob()));
  }

  void FindCommon() {
    std::vector<CountedSteps> ranks;
    for (const Member& member : members_) {
      CountedSteps& rank = ranks.emplace_back();
      rank.rows = member.partial->steady;
      for (const uint32_t row : rank.rows) rank.numbers.push_back(member.partial->step_number[row]);
    }
    common_ = FindCommonSteps(ranks);
  }

  void SayStepCounts() {
    std::map<size_t, size_t> ranks;  // by number of steps
    for (const Member& member : members_) ++ranks[member.partial->step_ns.size()];
    if (ranks.size() < 2) return;
    result_.notes.push_back("the ranks have from " + std::to_string(ranks.begin()->first) + " to " +
                            std::to_string(ranks.rbegin()->first) + " steps: " +
                            (common_.by_number ? "those that count on all are compared"
                                               : "the n-th that counts is compared with the n-th"));
  }

  int64_t StartOf(const JobPart& part) const {
    return clock_ == JobClock::kNone ? 0 : part.identity.start_utc_ns;
  }

  bool HasEnds() const {
    return std::any_of(calls_.begin(), calls_.end(),
                       [](const RankCalls* calls) { return !calls->ends.empty(); });
  }

  void NameClocks() {
    if (clock_ == JobClock::kUtc) SayClockErrors();
    if (clock_ != JobClock::kCollectives || result_.inputs < 2 || !HasEnds()) return;
    std::map<const JobPart*, ClockInput> inputs;
    int64_t first_ns = std::numeric_limits<int64_t>::max();
    for (const Member& member : members_) first_ns = std::min(first_ns, StartOf(*member.part));
    for (const Member& member : members_) {
      ClockInput& input = inputs[member.part];
      input.start_ns = StartOf(*member.part) - first_ns;
      if (!member.partial->calls.ends.empty()) input.ranks.push_back(&member.partial->calls);
    }
    std::vector<ClockInput> list;
    for (auto& [part, input] : inputs) list.push_back(std::move(input));
    result_.clocks = AlignClocks(list).Text();
  }

  void SayClockErrors() {
    std::vector<HostClock> clocks;
    std::set<std::string_view> hosts;
    for (const Member& member : members_) {
      HostClock& clock = clocks.emplace_back(member.part->clock);
      if (!clock.is_known) clock.host = member.partial->host;  // kept before clocks were
      hosts.insert(clock.is_known ? member.part->clock.host : member.partial->host);
    }
    std::string text = hosts.size() > 1 ? HostClocksText(clocks) : "";
    if (!text.empty()) result_.notes.push_back(std::move(text));
  }

  void FillRanks() {
    std::map<std::pair<PhaseKind, std::string>, size_t> columns;
    bool left_out = false;
    for (const Member& member : members_) {
      for (const PhaseTimes& phase : member.partial->phases) {
        if (columns.size() < kMostPhases) {
          columns.try_emplace({phase.kind, phase.name});
        } else {
          left_out = left_out || !columns.contains({phase.kind, phase.name});
        }
      }
    }
    if (left_out) {
      result_.notes.push_back("only the first " + std::to_string(kMostPhases) +
                              " phases of the ranks are compared");
    }
    for (auto& [key, column] : columns) {
      column = result_.phases.size();
      result_.phases.push_back(key.second);
    }
    std::vector<double> steps;
    for (size_t i = 0; i < members_.size(); ++i) {
      const RankPartial& partial = *members_[i].partial;
      const Lateness& late = late_.ranks[i];
      RankTimes times{.rank = members_[i].rank,
                      .pid = partial.pid,
                      .host = partial.host,
                      .label = members_[i].part->identity.label,
                      .steps = partial.steady.size(),
                      .step_ns = MedianStep(partial),
                      .waited_ns = MeanOver(late.waited_ns, partial.steady),
                      .lost_ns = MeanOver(late.lost_ns, partial.steady),
                      .cost_ns = MeanOver(late.cost_ns, partial.steady),
                      .phase_ns = std::vector<double>(columns.size())};
      if (late.calls > 0) times.last_share = double(late.last) / double(late.calls);
      for (const PhaseTimes& phase : partial.phases) {
        const auto column = columns.find({phase.kind, phase.name});
        if (column == columns.end()) continue;
        times.phase_ns[column->second] += MeanOver(phase.per_step_us, partial.steady) * 1000;
      }
      steps.push_back(times.step_ns);
      result_.ranks.push_back(std::move(times));
    }
    if (!steps.empty()) result_.step_ns = Quantile(steps, 0.5);
  }

  struct CollectiveSum {
    CollectiveTotal total;
    double waits = 0;
  };
  using CollectiveSums = std::map<std::tuple<uint64_t, std::string_view, uint64_t>, CollectiveSum>;

  void Replay() {
    LatenessMeasure lateness(calls_);
    std::vector<std::span<const uint32_t>> steady;
    for (const Member& member : members_) steady.emplace_back(member.partial->steady);
    GroupSums groups(calls_, steady);
    ExchangeSums exchanges(calls_);
    LinkSums links(calls_);
    CollectiveSums sums;
    std::map<uint64_t, uint32_t> communicators;
    ReplayCalls(calls_, first_, [&](std::span<const CallOfRank> call) {
      lateness.Add(call);
      groups.Add(call);
      exchanges.Add(call);
      links.Add(call);
      const CallKind& kind = KindOf(call[0]);
      CollectiveSum& sum = sums[{kind.communicator, kind.operation, kind.bytes}];
      if (sum.total.calls == 0) {
        const auto number = communicators.try_emplace(kind.communicator, communicators.size());
        sum.total.operation = kind.operation;
        sum.total.communicator = number.first->second;
        sum.total.ranks = kind.ranks;
        sum.total.bytes = kind.bytes;
      }
      AddCall(call, sum);
    });
    late_ = lateness.Take();
    result_.exchanges = exchanges.Take();
    for (ExchangeTotal& total : result_.exchanges) {
      total.communicator = communicators[total.communicator];
    }
    FillSlowLinks(links, communicators);
    FillCollectives(sums);
    FillGrid(groups);
  }

  void FillSlowLinks(const LinkSums& links, const std::map<uint64_t, uint32_t>& communicators) {
    std::vector<std::string> hosts;
    std::vector<size_t> steps;
    for (const Member& member : members_) {
      hosts.push_back(member.partial->host);
      steps.push_back(member.partial->step_ns.size());
    }
    result_.slow_links = links.Find(hosts, steps);
    for (SlowLink& link : result_.slow_links) {
      link.communicator = communicators.at(link.communicator);
    }
  }

  void FillGrid(const GroupSums& groups) {
    std::vector<GroupSums::Rank> ranks;
    for (const Member& member : members_) {
      ranks.push_back({.rank = member.rank,
                       .steps = member.partial->steady.size(),
                       .step_ns = MedianStep(*member.partial)});
    }
    if (!result_.grid) {
      result_.grid = FindGrid(groups.Groups(ranks), RanksOfJob());
      result_.grid_found = result_.grid.has_value();
    }
    const RankGrid* const grid = result_.grid ? &*result_.grid : nullptr;
    result_.axes = groups.Axes(ranks, grid);
    result_.pipeline = groups.Stages(ranks, grid);
  }

  void FillSteps() {
    std::vector<StepsOfRank> ranks;
    for (size_t i = 0; i < members_.size(); ++i) {
      const RankPartial& partial = *members_[i].partial;
      ranks.push_back(
          {partial.steady, partial.step_ns, partial.step_number, late_.ranks[i].lost_ns});
    }
    result_.steps = MapSteps(ranks);
  }

  static void AddCall(std::span<const CallOfRank> call, CollectiveSum& sum) {
    uint32_t shortest = UINT32_MAX, known = 0;
    uint64_t all = 0;
    for (const CallOfRank& one : call) {
      if (one.kernel == 0) continue;
      shortest = std::min(shortest, one.kernel);
      all += one.kernel;
      ++known;
    }
    ++sum.total.calls;
    sum.total.ranks = std::max(sum.total.ranks, uint32_t(call.size()));
    if (known == 0) return;
    sum.total.timed = true;
    sum.total.knows_waits |= known > 1;
    sum.total.transfer_ns += double(shortest) * kCallTickNs;
    sum.waits += (double(all) / known - shortest) * kCallTickNs;
  }

  void FillCollectives(CollectiveSums& sums) {
    for (auto& [key, sum] : sums) {
      sum.total.transfer_ns /= double(sum.total.calls);
      sum.total.waited_ns = sum.waits / double(sum.total.calls);
      result_.collectives.push_back(std::move(sum.total));
    }
    std::stable_sort(result_.collectives.begin(), result_.collectives.end(),
                     [](const CollectiveTotal& a, const CollectiveTotal& b) {
                       return (a.waited_ns + a.transfer_ns) * double(a.calls) >
                              (b.waited_ns + b.transfer_ns) * double(b.calls);
                     });
  }

  const CallKind& KindOf(const CallOfRank& one) const {
    return calls_[one.rank]->kinds[calls_[one.rank]->kind[one.call]];
  }

  // Where no kernel of a collective tells, and no GPU hides what the CPU waits for.
  void WaitByPhases() {
    phases_.clear();
    for (const Member& member : members_) {
      phases_.push_back({member.partial->phases, common_.rows[phases_.size()]});
    }
    result_.waits_by = late_.knows_waits ? WaitsBy::kCollectives : WaitsBy::kNothing;
    if (members_.size() < 2) return;
    costs_ = late_.knows_waits ? CostsByCollectives() : CostsByPhases(phases_);
    const bool on_gpu = std::any_of(members_.begin(), members_.end(), [](const Member& member) {
      return !member.partial->kernels.empty();
    });
    if (late_.knows_waits || on_gpu) return;
    const std::vector<std::vector<int64_t>> waits = WaitsByPhases(phases_);
    if (waits.empty()) return;
    result_.waits_by = WaitsBy::kPhases;
    for (size_t i = 0; i < members_.size(); ++i) {
      Lateness& late = late_.ranks[i];
      late.lost_ns.assign(members_[i].partial->step_ns.size(), 0);
      late.cost_ns = late.lost_ns;
      for (size_t step = 0; step < waits[i].size(); ++step) {
        late.lost_ns[common_.rows[i][step]] = waits[i][step];
        late.cost_ns[common_.rows[i][step]] = costs_[i][step];
      }
      late.waited_ns = late.lost_ns;
    }
  }

  std::vector<CostOfSteps> CostsByCollectives() const {
    std::vector<CostOfSteps> costs;
    for (size_t i = 0; i < members_.size(); ++i) {
      CostOfSteps& of_rank = costs.emplace_back();
      const std::vector<int64_t>& all = late_.ranks[i].cost_ns;
      for (const uint32_t row : common_.rows[i]) {
        of_rank.push_back(row < all.size() ? all[row] : 0);
      }
    }
    return costs;
  }

  std::vector<int64_t> NumbersOf(size_t rank, const std::vector<uint32_t>& places) const {
    std::vector<int64_t> numbers;
    for (const uint32_t place : places) {
      numbers.push_back(members_[rank].partial->step_number[common_.rows[rank][place]]);
    }
    return numbers;
  }

  void FindJobStraggler() {
    if (members_.size() < 2) return;
    const std::optional<LateRank> late = FindLateRank(costs_, result_.step_ns);
    if (late) return JudgeJobStraggler(ExplainLateRank(phases_, *late));
    const std::optional<LateRank> seldom = FindMostLateRank(costs_, result_.step_ns);
    if (!seldom || result_.waits_by == WaitsBy::kNothing) return;
    double all_ns = 0;
    for (const CostOfSteps& of_rank : costs_) {
      for (const int64_t ns : of_rank) all_ns += double(ns);
    }
    const double of_rank_ns = seldom->waited_ns * double(costs_[seldom->rank].size());
    if (of_rank_ns < kMostOfCosts * all_ns) return;
    result_.seldom_late = {.row = seldom->rank,
                           .waited_ns = seldom->waited_ns,
                           .of_step = seldom->waited_ns / result_.step_ns,
                           .late_steps = NumbersOf(seldom->rank, seldom->late_steps),
                           .steps = common_.rows[seldom->rank].size()};
  }

  void JudgeJobStraggler(const SlowRank& slow) {
    const LateVerdict verdict = Judge(slow);
    if (verdict.lost_ns < kLateCostsOfStep * result_.step_ns) return;
    JobStraggler& found = result_.straggler.emplace();
    found.row = slow.rank;
    found.waited_ns = slow.waited_ns;
    found.of_step = result_.step_ns > 0 ? slow.waited_ns / result_.step_ns : 0;
    found.lost_ns = verdict.lost_ns;
    found.by_collectives = late_.knows_waits;
    found.steps = common_.rows[slow.rank].size();
    found.late_steps = NumbersOf(slow.rank, slow.late_steps);
    if (slow.phase != nullptr) found.phase = slow.phase->name;
    found.longer_ns = slow.longer_ns;
    found.causes = CausesOf(slow);
  }

  LateCauses CausesOf(const SlowRank& slow) const {
    std::vector<const RankPartial*> ranks;
    for (const Member& member : members_) ranks.push_back(member.partial);
    const auto steps = double(common_.rows[slow.rank].size());
    const auto late_steps = double(std::max<size_t>(slow.late_steps.size(), 1));
    return FindLateCauses(ranks, common_.rows, slow.rank, slow.late_steps,
                          slow.waited_ns * steps / late_steps);
  }

  void AskWhatIf() {
    if (!result_.knows_waits()) return;
    std::vector<RankOwnSteps> ranks;
    for (size_t i = 0; i < members_.size(); ++i) {
      RankOwnSteps& own = ranks.emplace_back(
          OwnStepsOf(*members_[i].partial, common_.rows[i], late_.ranks[i].lost_ns));
      own.rank = members_[i].rank;
      own.replica = PlaceOn("dp", own.rank, static_cast<int32_t>(i));
      own.stage = PlaceOn("pp", own.rank, 0);
    }
    result_.what_if = AskJobWhatIf(ranks);
  }

  int32_t PlaceOn(std::string_view axis, int32_t rank, int32_t otherwise) const {
    const auto known = result_.grid ? result_.grid->AxisOf(axis) : std::nullopt;
    return known && rank >= 0 ? static_cast<int32_t>(result_.grid->PlaceOn(*known, rank))
                              : otherwise;
  }

  LateVerdict Judge(const SlowRank& slow) const {
    std::vector<PacedRank> ranks;
    for (size_t i = 0; i < members_.size(); ++i) {
      const RankPartial& partial = *members_[i].partial;
      const double lost_ns = MeanOver(late_.ranks[i].lost_ns, partial.steady);
      ranks.push_back({.step_ns = partial.step_ns,
                       .steady = common_.rows[i],
                       .pace = &partial.pace,
                       .communication_ns = std::max(0.0, ExposedNs(partial) - lost_ns)});
    }
    return JudgeLateRank(slow, ranks);
  }

  // Kernels of collectives while nothing was computed, mean of a step that counts.
  static double ExposedNs(const RankPartial& partial) {
    const RankCalls& calls = partial.calls;
    double ticks = 0;
    for (const uint32_t step : partial.steady) {
      if (step + 1 >= calls.step_begin.size()) continue;
      for (uint32_t call = calls.step_begin[step]; call < calls.step_begin[step + 1]; ++call) {
        ticks += double(calls.exposed[call]);
      }
    }
    return partial.steady.empty() ? 0 : ticks * kCallTickNs / double(partial.steady.size());
  }

  std::vector<JobPart> parts_;
  const JobClock clock_;
  std::vector<Member> members_;  // by rank
  CommonSteps common_;           // by member
  std::vector<const RankCalls*> calls_;
  std::vector<FirstNumbers> first_;
  std::vector<RankPhases> phases_;  // by member
  std::vector<CostOfSteps> costs_;  // by member
  JobLateness late_;
  JobResult result_;
};

}  // namespace

Result<JobResult> CompareRanks(std::vector<JobPart> parts, JobClock clock,
                               std::optional<RankGrid> grid) {
  return Comparer(std::move(parts), clock, std::move(grid)).Run();
}

}  // namespace batchlight
