#include "report/terminal/ranks_maps.h"

#include <algorithm>
#include <array>

#include "analysis/partial/rank_maps.h"
#include "report/text/rank_names.h"
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

// `gap`: spaces between the columns.
void WriteMap(SummaryText& out, const JobResult& job, const RankMap& map, size_t gap,
              std::string_view header) {
  const std::vector<RankLine> lines = LinesOf(job, kMostLines);
  size_t name_width = 5;
  for (const RankLine& line : lines) {
    name_width = std::max(name_width, RankLineName(job, line).size());
  }
  out.Put("  rank", Tone::kDim).PadTo(name_width + 4).Put(header, Tone::kDim).EndLine();
  for (const RankLine& line : lines) {
    out.Put("  " + RankLineName(job, line)).PadTo(name_width + 4);
    for (const double worst : WorstOf(map, line).share) {
      const Shade& shade = ShadeOf(worst);
      out.Put(out.unicode() ? shade.glyph : shade.ascii, shade.tone);
      if (gap > 0) out.Put(std::string(gap, ' '));
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

void WritePhases(SummaryText& out, const JobResult& job) {
  const RankMap map = RanksByPhase(job, kMostPhases);
  if (map.columns.empty()) return;
  std::string letters, names;
  for (size_t i = 0; i < map.columns.size(); ++i) {
    const char letter = static_cast<char>('a' + i);
    letters += std::string(1, letter) + " ";
    names += (i == 0 ? "" : ", ") + std::string(1, letter) + " " + CleanText(map.columns[i]);
  }
  out.Title("Ranks by phase");
  out.Put("  ").Wrapped(names, 2, Tone::kDim);
  WriteMap(out, job, map, 1, letters);
}

void WriteSteps(SummaryText& out, const JobResult& job) {
  const RankMap map = RanksByStep(job);
  if (map.columns.empty()) return;
  out.Title(job.waits_by == WaitsBy::kNothing ? "Ranks by step, with what they wait"
                                              : "Ranks by step, without what they lost waiting");
  const size_t to_a_place = job.steps.steps_per_column;
  const std::string header =
      "steps from " + map.columns.front() +
      (to_a_place == 1 ? " on" : " on, " + std::to_string(to_a_place) + " to a place");
  WriteMap(out, job, map, 0, header);
}

}  // namespace

void WriteRankMaps(SummaryText& out, const JobResult& job) {
  if (job.ranks.size() < 2 || job.step_ns <= 0) return;
  WritePhases(out, job);
  WriteSteps(out, job);
  WriteLegend(out);
}

}  // namespace batchlight
