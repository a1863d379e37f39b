#include "analysis/partial/rank_maps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

bool CanBeMapped(const JobResult& job) { return job.ranks.size() >= 2 && job.step_ns > 0; }

std::vector<double> UsualPhases(const JobResult& job) {
  std::vector<double> usual;
  for (size_t phase = 0; phase < job.phases.size(); ++phase) {
    std::vector<double> values;
    for (const RankTimes& rank : job.ranks) values.push_back(rank.phase_ns[phase]);
    usual.push_back(Quantile(values, 0.5));
  }
  return usual;
}

std::vector<size_t> PhasesToShow(const JobResult& job, const std::vector<double>& usual,
                                 size_t most_phases) {
  std::vector<std::pair<double, size_t>> most;
  for (size_t phase = 0; phase < job.phases.size(); ++phase) {
    double longest = 0;
    for (const RankTimes& rank : job.ranks) longest = std::max(longest, rank.phase_ns[phase]);
    most.emplace_back(usual[phase] - longest, phase);
  }
  std::stable_sort(most.begin(), most.end());
  if (most.size() > most_phases) most.resize(most_phases);
  std::vector<size_t> phases;
  for (const auto& [less, phase] : most) phases.push_back(phase);
  std::sort(phases.begin(), phases.end());
  return phases;
}

size_t RanksPerLine(const JobResult& job, size_t most_lines) {
  const size_t ranks = job.ranks.size();
  const auto fits = [&](size_t fold) { return (ranks + fold - 1) / fold <= most_lines; };
  size_t fold = 1;
  const size_t axes = job.grid ? job.grid->axes().size() : 0;
  for (size_t i = axes; i-- > 0 && !fits(fold);) {
    const size_t size = job.grid->axes()[i].size;
    size_t part = 2;
    while (part < size && (size % part != 0 || !fits(fold * part))) ++part;
    fold *= std::min(part, size);
  }
  return fits(fold) ? fold : (ranks + most_lines - 1) / most_lines;
}

}  // namespace

std::vector<RankLine> LinesOf(const JobResult& job, size_t most_lines) {
  std::vector<RankLine> lines;
  const size_t fold = RanksPerLine(job, most_lines);
  for (size_t begin = 0; begin < job.ranks.size(); begin += fold) {
    lines.push_back({begin, std::min(begin + fold, job.ranks.size())});
  }
  return lines;
}

WorstOfLine WorstOf(const RankMap& map, const RankLine& line) {
  WorstOfLine worst{.share = map.share[line.begin],
                    .rank = std::vector<size_t>(map.columns.size(), line.begin)};
  for (size_t rank = line.begin + 1; rank < line.end; ++rank) {
    for (size_t column = 0; column < map.columns.size(); ++column) {
      if (map.share[rank][column] <= worst.share[column]) continue;
      worst.share[column] = map.share[rank][column];
      worst.rank[column] = rank;
    }
  }
  return worst;
}

RankMap RanksByPhase(const JobResult& job, size_t most_phases) {
  RankMap map;
  if (!CanBeMapped(job)) return map;
  const std::vector<double> usual = UsualPhases(job);
  const std::vector<size_t> phases = PhasesToShow(job, usual, most_phases);
  for (const size_t phase : phases) map.columns.push_back(job.phases[phase]);
  for (const RankTimes& rank : job.ranks) {
    std::vector<double>& share = map.share.emplace_back();
    for (const size_t phase : phases) {
      share.push_back((rank.phase_ns[phase] - usual[phase]) / job.step_ns);
    }
  }
  return map;
}

RankMap RanksByStep(const JobResult& job) {
  RankMap map;
  const StepMap& steps = job.steps;
  if (!CanBeMapped(job)) return map;
  for (const int64_t step : steps.first_step) map.columns.push_back(std::to_string(step));
  for (const std::vector<double>& own : steps.own_ns) {
    std::vector<double>& share = map.share.emplace_back(map.columns.size(), kNoSteps);
    for (size_t column = 0; column < std::min(own.size(), share.size()); ++column) {
      if (std::isnan(own[column])) continue;
      share[column] = (own[column] - steps.usual_ns[column]) / job.step_ns;
    }
  }
  return map;
}

}  // namespace batchlight
