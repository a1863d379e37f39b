#include "report/terminal/ranks_maps.h"

#include <algorithm>
#include <array>
#include <functional>

#include "analysis/numbers/quantile.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

constexpr size_t kMostLines = 32;
constexpr size_t kMostPhases = 12;

// From which part of a step on a place is so dark.
struct Shade {
  double from;
  std::string_view text;
  std::string_view glyph;
  std::string_view ascii;
  Tone tone;
};
constexpr std::array<Shade, 5> kShades = {{{-1e9, "", "·", ".", Tone::kDim},
                                           {0.005, "0.5 %", "░", ":", Tone::kPlain},
                                           {0.02, "2 %", "▒", "+", Tone::kYellow},
                                           {0.05, "5 %", "▓", "*", Tone::kRed},
                                           {0.10, "10 %", "█", "#", Tone::kLoss}}};

const Shade& ShadeOf(double share) {
  size_t found = 0;
  for (size_t i = 0; i < kShades.size(); ++i) {
    if (share >= kShades[i].from) found = i;
  }
  return kShades[found];
}

// Ranks of a line: whole lines of the grid, or an even part of the next axis.
size_t RanksPerLine(const JobResult& job) {
  const size_t ranks = job.ranks.size();
  const auto fits = [&](size_t fold) { return (ranks + fold - 1) / fold <= kMostLines; };
  size_t fold = 1;
  const size_t axes = job.grid ? job.grid->axes().size() : 0;
  for (size_t i = axes; i-- > 0 && !fits(fold);) {
    const size_t size = job.grid->axes()[i].size;
    size_t part = 2;
    while (part < size && (size % part != 0 || !fits(fold * part))) ++part;
    fold *= std::min(part, size);
  }
  return fits(fold) ? fold : (ranks + kMostLines - 1) / kMostLines;
}

std::string LineName(const JobResult& job, size_t begin, size_t end) {
  const int32_t first = job.ranks[begin].rank, last = job.ranks[end - 1].rank;
  std::string name = std::to_string(first);
  if (end - begin > 1) return name + "-" + std::to_string(last);
  if (job.grid) name += " (" + CleanText(job.grid->PlaceText(first)) + ")";
  return name;
}

// `share(rank, column)`: what the rank takes longer, as part of a step; `gap`: spaces between.
struct Map {
  size_t columns = 0;
  size_t gap = 0;
  std::function<double(size_t, size_t)> share;
};

void WriteMap(SummaryText& out, const JobResult& job, const Map& map, std::string_view header) {
  const size_t fold = RanksPerLine(job);
  size_t name_width = 5;
  for (size_t begin = 0; begin < job.ranks.size(); begin += fold) {
    const size_t end = std::min(begin + fold, job.ranks.size());
    name_width = std::max(name_width, LineName(job, begin, end).size());
  }
  out.Put("  rank", Tone::kDim).PadTo(name_width + 4).Put(header, Tone::kDim).EndLine();
  for (size_t begin = 0; begin < job.ranks.size(); begin += fold) {
    const size_t end = std::min(begin + fold, job.ranks.size());
    out.Put("  " + LineName(job, begin, end)).PadTo(name_width + 4);
    for (size_t column = 0; column < map.columns; ++column) {
      double worst = -1;
      for (size_t rank = begin; rank < end; ++rank)
        worst = std::max(worst, map.share(rank, column));
      const Shade& shade = ShadeOf(worst);
      out.Put(out.unicode() ? shade.glyph : shade.ascii, shade.tone);
      if (map.gap > 0) out.Put(std::string(map.gap, ' '));
    }
    out.EndLine();
  }
}

void WriteLegend(SummaryText& out) {
  out.Put("  ");
  for (size_t i = 1; i < kShades.size(); ++i) {
    const Shade& shade = kShades[i];
    out.Put(out.unicode() ? shade.glyph : shade.ascii, shade.tone);
    out.Put(" " + std::string(shade.text) + "  ", Tone::kDim);
  }
  out.Line("of a step more than the rank in the middle", Tone::kDim);
}

std::vector<double> UsualPhases(const JobResult& job) {
  std::vector<double> usual;
  for (size_t phase = 0; phase < job.phases.size(); ++phase) {
    std::vector<double> values;
    for (const RankTimes& rank : job.ranks) values.push_back(rank.phase_ns[phase]);
    usual.push_back(Quantile(values, 0.5));
  }
  return usual;
}

// The phases that differ most between ranks, in their order.
std::vector<size_t> PhasesToShow(const JobResult& job, const std::vector<double>& usual) {
  std::vector<std::pair<double, size_t>> most;
  for (size_t phase = 0; phase < job.phases.size(); ++phase) {
    double longest = 0;
    for (const RankTimes& rank : job.ranks) longest = std::max(longest, rank.phase_ns[phase]);
    most.emplace_back(usual[phase] - longest, phase);
  }
  std::stable_sort(most.begin(), most.end());
  if (most.size() > kMostPhases) most.resize(kMostPhases);
  std::vector<size_t> phases;
  for (const auto& [less, phase] : most) phases.push_back(phase);
  std::sort(phases.begin(), phases.end());
  return phases;
}

void WritePhases(SummaryText& out, const JobResult& job) {
  const std::vector<double> usual = UsualPhases(job);
  const std::vector<size_t> phases = PhasesToShow(job, usual);
  if (phases.empty()) return;
  std::string letters, names;
  for (size_t i = 0; i < phases.size(); ++i) {
    const char letter = static_cast<char>('a' + i);
    letters += std::string(1, letter) + " ";
    names += (i == 0 ? "" : ", ") + std::string(1, letter) + " " + CleanText(job.phases[phases[i]]);
  }
  out.Title("Ranks by phase");
  out.Put("  ").Wrapped(names, 2, Tone::kDim);
  WriteMap(out, job,
           {.columns = phases.size(),
            .gap = 1,
            .share =
                [&](size_t rank, size_t column) {
                  const size_t phase = phases[column];
                  return (job.ranks[rank].phase_ns[phase] - usual[phase]) / job.step_ns;
                }},
           letters);
}

void WriteSteps(SummaryText& out, const JobResult& job) {
  const StepMap& steps = job.steps;
  if (steps.first_step.empty()) return;
  out.Title("Ranks by step, without what they lost waiting");
  const std::string header =
      "steps from " + std::to_string(steps.first_step.front()) +
      (steps.steps_per_column == 1
           ? " on"
           : " on, " + std::to_string(steps.steps_per_column) + " to a place");
  WriteMap(out, job,
           {.columns = steps.first_step.size(),
            .share =
                [&](size_t rank, size_t column) {
                  const std::vector<double>& own = steps.own_ns[rank];
                  if (column >= own.size()) return -1.0;
                  return (own[column] - steps.usual_ns[column]) / job.step_ns;
                }},
           header);
}

}  // namespace

void WriteRankMaps(SummaryText& out, const JobResult& job) {
  if (job.ranks.size() < 2 || job.step_ns <= 0) return;
  WritePhases(out, job);
  WriteSteps(out, job);
  WriteLegend(out);
}

}  // namespace batchlight
