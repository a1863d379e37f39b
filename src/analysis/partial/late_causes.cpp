#include "analysis/partial/late_causes.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/numbers/quantile.h"
#include "analysis/partial/kept_own_times.h"

namespace batchlight {
namespace {

constexpr double kSlowKernels = 1.03;   // from so many times the others' on it is worth a word
constexpr double kMuchOfKernels = 0.1;  // of kernel time
constexpr double kLowClock = 0.97;      // of the others'
constexpr double kMoreHeldBack = 0.1;   // of the samples, than the others
constexpr double kOfWaiting = 0.5;      // what a cause explains at least

// The median of each kernel beside the median of these over ranks, which all computed the same.
std::optional<SlowKernels> CompareKernels(std::span<const RankPartial* const> ranks, size_t row) {
  const std::vector<KernelTimes>& own = ranks[row]->kernels;
  std::unordered_map<std::string_view, std::vector<int64_t>> medians;
  for (const KernelTimes& kernel : own) medians[kernel.name];
  for (const RankPartial* rank : ranks) {
    for (const KernelTimes& kernel : rank->kernels) {
      const auto known = medians.find(kernel.name);
      if (known != medians.end()) known->second.push_back(kernel.median_ns);
    }
  }
  double total_ns = 0, usual_ns = 0;
  SlowKernels found;
  std::vector<std::pair<const KernelTimes*, double>> times;
  for (const KernelTimes& kernel : own) {
    std::vector<int64_t>& all = medians[kernel.name];
    const double usual = double(LowerQuantile(all, 0.5));
    if (all.size() < 2 || usual <= 0) continue;
    const double ratio = double(kernel.median_ns) / usual;
    if (ratio <= 0) continue;
    total_ns += double(kernel.total_ns);
    usual_ns += double(kernel.total_ns) / ratio;
    times.emplace_back(&kernel, ratio);
  }
  if (usual_ns <= 0) return std::nullopt;
  found.times = total_ns / usual_ns;
  for (const auto& [kernel, ratio] : times) {
    if (double(kernel->total_ns) < kMuchOfKernels * total_ns || ratio <= found.worst_times) {
      continue;
    }
    found.worst = kernel->name;
    found.worst_times = ratio;
  }
  if (found.times < kSlowKernels) return std::nullopt;
  return found;
}

// Of the other ranks; -1: not known.
double InTheMiddle(std::span<const RankPartial* const> ranks, size_t row,
                   double RankCondition::*figure) {
  std::vector<double> known;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const double value = ranks[i]->condition.*figure;
    if (i != row && value >= 0) known.push_back(value);
  }
  return known.empty() ? -1 : Quantile(known, 0.5);
}

std::optional<LowClock> CompareClocks(std::span<const RankPartial* const> ranks, size_t row) {
  const RankCondition& own = ranks[row]->condition;
  const LowClock found{
      .mhz = own.clock_mhz,
      .others_mhz = InTheMiddle(ranks, row, &RankCondition::clock_mhz),
      .held_by_power = own.held_by_power,
      .others_held_by_power = InTheMiddle(ranks, row, &RankCondition::held_by_power),
      .held_by_heat = own.held_by_heat,
      .others_held_by_heat = InTheMiddle(ranks, row, &RankCondition::held_by_heat)};
  const auto is_more = [](double mine, double others) {
    return others >= 0 && mine >= others + kMoreHeldBack;
  };
  const bool is_lower = found.mhz >= 0 && found.mhz < kLowClock * found.others_mhz;
  if (!is_lower && !is_more(found.held_by_heat, found.others_held_by_heat) &&
      !is_more(found.held_by_power, found.others_held_by_power)) {
    return std::nullopt;
  }
  return found;
}

// Mean over the late steps.
double CollectedNs(const RankPartial& rank, std::span<const uint32_t> rows,
                   std::span<const uint32_t> late) {
  const std::vector<uint32_t>& us = rank.condition.collected_us;
  double sum = 0;
  for (const uint32_t place : late) {
    if (place < rows.size() && rows[place] < us.size()) sum += double(us[rows[place]]) * 1000;
  }
  return late.empty() ? 0 : sum / double(late.size());
}

void FindLonger(std::span<const RankPartial* const> ranks,
                std::span<const std::vector<uint32_t>> rows, size_t row,
                std::span<const uint32_t> late, double waited_ns, LateCauses& found) {
  const RankOwnTimes own = UnpackOwnTimes(ranks[row]->own_times);
  LongerCalls operators(own.operators, rows[row], late, waited_ns);
  LongerCalls modules(own.modules, rows[row], late, waited_ns);
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i == row || (operators.empty() && modules.empty())) continue;
    const RankOwnTimes other = UnpackOwnTimes(ranks[i]->own_times);
    operators.AddOther(other.operators, rows[i]);
    modules.AddOther(other.modules, rows[i]);
  }
  found.operators = operators.Take();
  found.modules = modules.Take();
}

}  // namespace

LateCauses FindLateCauses(std::span<const RankPartial* const> ranks,
                          std::span<const std::vector<uint32_t>> rows, size_t row,
                          std::span<const uint32_t> late, double waited_ns) {
  LateCauses found{.kernels = CompareKernels(ranks, row), .clock = CompareClocks(ranks, row)};
  FindLonger(ranks, rows, row, late, waited_ns, found);
  const double own_ns = CollectedNs(*ranks[row], rows[row], late);
  double others_ns = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i != row) others_ns = std::max(others_ns, CollectedNs(*ranks[i], rows[i], late));
  }
  if (own_ns - others_ns < kOfWaiting * waited_ns || own_ns <= others_ns) return found;
  found.collected_ns = own_ns;
  found.others_collected_ns = others_ns;
  return found;
}

}  // namespace batchlight
