#include "report/page/page_rank_maps.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "analysis/partial/rank_maps.h"
#include "report/text/rank_names.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

using nlohmann::json;

constexpr size_t kMostPhases = 32;
constexpr size_t kMostLines = 240;       // three pixels each are 720
constexpr double kUnitsOfStep = 10'000;  // a share is told in 0.01 % of a step

json MapOf(std::string_view key, const RankMap& map, const std::vector<RankLine>& lines) {
  json columns = json::array(), shares = json::array(), ranks = json::array();
  for (const std::string& column : map.columns) columns.push_back(CleanText(column));
  for (const RankLine& line : lines) {
    const WorstOfLine worst = WorstOf(map, line);
    json share = json::array();
    for (const double value : worst.share) {
      share.push_back(value <= kNoSteps ? json(nullptr) : json(std::llround(value * kUnitsOfStep)));
    }
    shares.push_back(std::move(share));
    ranks.push_back(worst.rank);
  }
  json out = {{"key", key}, {"columns", std::move(columns)}, {"share", std::move(shares)}};
  if (lines.size() < map.share.size()) out["worst"] = std::move(ranks);
  return out;
}

}  // namespace

json PageRankMaps(const JobResult& job) {
  const RankMap phases = RanksByPhase(job, kMostPhases), steps = RanksByStep(job);
  if (phases.columns.empty() && steps.columns.empty()) return nullptr;
  const std::vector<RankLine> lines = LinesOf(job, kMostLines);
  json names = json::array(), line_names = json::array(), maps = json::array();
  for (size_t row = 0; row < job.ranks.size(); ++row) names.push_back(RankName(job, row));
  for (const RankLine& line : lines) line_names.push_back(RankLineName(job, line));
  if (!phases.columns.empty()) maps.push_back(MapOf("phase", phases, lines));
  if (!steps.columns.empty()) maps.push_back(MapOf("step", steps, lines));
  return {{"step_ns", std::llround(job.step_ns)},
          {"knows_waits", job.knows_waits()},
          {"grid", job.grid ? CleanText(job.grid->Text()) : ""},
          {"steps_per_column", job.steps.steps_per_column},
          {"ranks", std::move(names)},
          {"lines", std::move(line_names)},
          {"maps", std::move(maps)}};
}

}  // namespace batchlight
