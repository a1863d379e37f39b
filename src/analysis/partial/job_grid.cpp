#include "analysis/partial/job_grid.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/numbers/quantile.h"

namespace batchlight {

double Pipeline::least_bubble() const {
  const double p = double(stages.size()), m = micro_batches;
  return m > 0 ? (p - 1) / (m + p - 1) : 0;
}

GroupSums::GroupSums(std::span<const RankCalls* const> ranks,
                     std::span<const std::span<const uint32_t>> steady)
    : ranks_(ranks), steady_(steady.begin(), steady.end()), sent_(ranks.size()) {
  std::unordered_map<uint64_t, uint32_t> rows;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const RankCalls& calls = *ranks[rank];
    places_.push_back({.first_kind = static_cast<uint32_t>(kinds_.size())});
    for (const CallKind& kind : calls.kinds) {
      const auto row = static_cast<uint32_t>(groups_.size());
      const auto [known, is_new] = rows.try_emplace(kind.communicator, row);
      if (is_new) groups_.emplace_back();
      Group& group = groups_[known->second];
      if (group.members.empty() || group.members.back() != rank) group.members.push_back(rank);
      const bool sends = IsBetweenTwo(kind.operation);
      group.sends_only = group.sends_only && sends;
      kinds_.push_back({known->second, sends, kind.operation == "Recv"});
    }
  }
}

bool GroupSums::Counts(const CallOfRank& one) {
  Place& place = places_[one.rank];
  if (one.step == place.step) return place.counts;
  place.step = one.step;
  place.counts = false;
  if (one.step == CallOfRank::kNoStep) return false;
  const std::span<const uint32_t> steady = steady_[one.rank];
  while (place.next < steady.size() && steady[place.next] < one.step) ++place.next;
  place.counts = place.next < steady.size() && steady[place.next] == one.step;
  return place.counts;
}

void GroupSums::Add(std::span<const CallOfRank> call) {
  const CallOfRank& first = call[0];
  const Kind& kind = kinds_[places_[first.rank].first_kind + ranks_[first.rank]->kind[first.call]];
  uint32_t shortest = UINT32_MAX;
  for (const CallOfRank& one : call) {
    if (one.kernel > 0) shortest = std::min(shortest, one.kernel);
  }
  uint64_t exposed = 0, lost = 0;
  for (const CallOfRank& one : call) {
    if (!Counts(one)) continue;
    exposed += one.exposed;
    if (one.kernel == 0) continue;
    const uint32_t more = one.exposed > shortest ? one.exposed - shortest : 0;
    lost += std::min(one.kernel - shortest, more);
  }
  groups_[kind.group].exposed_ticks += exposed;
  groups_[kind.group].lost_ticks += lost;
  if (!kind.sends) return;
  sent_[first.rank].exposed_ticks += exposed;
  if (kind.receives && Counts(first)) ++sent_[first.rank].received;
}

std::vector<RankGroup> GroupSums::Groups(std::span<const Rank> ranks) const {
  std::vector<RankGroup> groups;
  for (const Group& group : groups_) {
    RankGroup& found = groups.emplace_back();
    found.sends_only = group.sends_only;
    for (const uint32_t row : group.members) found.ranks.push_back(ranks[row].rank);
    std::sort(found.ranks.begin(), found.ranks.end());
  }
  return groups;
}

std::vector<AxisTotal> GroupSums::Axes(std::span<const Rank> ranks, const RankGrid* grid) const {
  struct Sum {
    AxisTotal total;
    std::vector<uint32_t> members;
  };
  std::map<std::string, Sum> sums;
  const std::vector<RankGroup> groups = Groups(ranks);
  for (size_t i = 0; i < groups.size(); ++i) {
    const size_t size = groups[i].ranks.size();
    std::string name = grid != nullptr ? grid->AxesOf(groups[i].ranks) : "";
    if (name.empty()) name = "groups of " + std::to_string(size);
    if (size == ranks.size()) name = "all ranks";
    Sum& sum = sums[name];
    sum.total.name = name;
    ++sum.total.groups;
    sum.total.ranks = std::max(sum.total.ranks, uint32_t(groups[i].ranks.size()));
    sum.total.exposed_ns += double(groups_[i].exposed_ticks) * kCallTickNs;
    sum.total.lost_ns += double(groups_[i].lost_ticks) * kCallTickNs;
    sum.members.insert(sum.members.end(), groups_[i].members.begin(), groups_[i].members.end());
  }
  std::vector<AxisTotal> axes;
  for (auto& [name, sum] : sums) {
    std::sort(sum.members.begin(), sum.members.end());
    sum.members.erase(std::unique(sum.members.begin(), sum.members.end()), sum.members.end());
    double steps = 0;
    for (const uint32_t row : sum.members) steps += double(ranks[row].steps);
    if (steps == 0) continue;
    sum.total.exposed_ns /= steps;
    sum.total.lost_ns /= steps;
    axes.push_back(std::move(sum.total));
  }
  std::stable_sort(axes.begin(), axes.end(), [](const AxisTotal& a, const AxisTotal& b) {
    return a.exposed_ns > b.exposed_ns;
  });
  return axes;
}

std::optional<Pipeline> GroupSums::Stages(std::span<const Rank> ranks, const RankGrid* grid) const {
  const std::optional<size_t> axis = grid != nullptr ? grid->AxisOf("pp") : std::nullopt;
  if (!axis || grid->axes()[*axis].size < 2) return std::nullopt;
  Pipeline pipeline;
  std::vector<double> steps(grid->axes()[*axis].size);
  for (uint32_t stage = 0; stage < steps.size(); ++stage) pipeline.stages.push_back({stage});
  std::vector<double> received;
  double exposed_ns = 0, step_ns = 0;
  for (size_t row = 0; row < ranks.size(); ++row) {
    const uint32_t place = grid->PlaceOn(*axis, ranks[row].rank);
    PipelineStage& stage = pipeline.stages[place];
    const double count = double(ranks[row].steps);
    const double sent_ns = double(sent_[row].exposed_ticks) * kCallTickNs;
    ++stage.ranks;
    steps[place] += count;
    stage.step_ns += ranks[row].step_ns * count;
    stage.exposed_ns += sent_ns;
    step_ns += ranks[row].step_ns * count;
    exposed_ns += sent_ns;
    if (place == 0 && count > 0) received.push_back(double(sent_[row].received) / count);
  }
  if (exposed_ns <= 0 || step_ns <= 0) return std::nullopt;
  for (PipelineStage& stage : pipeline.stages) {
    if (steps[stage.stage] == 0) continue;
    stage.step_ns /= steps[stage.stage];
    stage.exposed_ns /= steps[stage.stage];
  }
  pipeline.bubble = exposed_ns / step_ns;
  if (!received.empty()) {
    pipeline.micro_batches = static_cast<uint32_t>(Quantile(received, 0.5) + 0.5);
  }
  return pipeline;
}

}  // namespace batchlight
