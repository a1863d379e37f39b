#include "report/page/page_ranks.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/tables/parts_of_rows.h"
#include "report/page/page_columns.h"
#include "report/text/rank_sentences.h"

namespace batchlight {
namespace {

using nlohmann::json;

// For all ranks together: whether the steps of the first rank count, and the number of all steps.
json AllRanks(const RunOverview& overview) {
  const std::vector<uint32_t> starts = BinStarts(overview.tree.bins);
  const std::vector<ProcessSteps>& processes = overview.steps.processes;
  std::vector<double> all;
  for (size_t bin = 0; bin < starts.size(); ++bin) {
    size_t steps = 0;
    for (const ProcessSteps& process : processes) {
      const size_t count = process.steps.size();
      const size_t end = bin + 1 < starts.size() ? std::min<size_t>(starts[bin + 1], count) : count;
      steps += std::max<size_t>(end, starts[bin]) - starts[bin];
    }
    all.push_back(double(steps));
  }
  return PageParts(StepsOfBins(starts, processes.front()), {{"steps", std::move(all)}});
}

json PartsOfRanks(const RunOverview& overview) {
  const std::vector<uint32_t> starts = BinStarts(overview.tree.bins);
  json rows = json::array();
  for (const RankRow& rank : overview.distributed.ranks) {
    const std::vector<BinSteps> bins = StepsOfBins(starts, *overview.steps.Of(rank.process));
    rows.push_back(PageParts(bins, PartsOf(overview, rank, bins)));
  }
  return {{"rows", std::move(rows)}};
}

// The last of the row's bins is left out: it lies in no step, so in no selection.
json PartsOfCollectives(const RunOverview& overview) {
  constexpr size_t kMost = 50;
  json rows = json::array();
  for (const CollectiveRow& row : overview.distributed.collectives) {
    if (rows.size() == kMost) break;
    const std::span<const CollectiveTimes> bins(row.bins);
    rows.push_back({{"of", PageParts(PartsOf(row, bins.first(bins.size() - 1)))}});
  }
  return {{"rows", std::move(rows)}, {"all", AllRanks(overview)}, {"only_with", "calls"}};
}

}  // namespace

json PageDistributed(const RunOverview& overview, const JobResult* job) {
  const Distributed& found = overview.distributed;
  if (found.ranks.empty() && found.collectives.empty()) return nullptr;
  return {{"verdict", job != nullptr ? WaitedForSentence(*job) : ""}};
}

json PageTableParts(const RunOverview& overview, std::string_view table) {
  if (overview.tree.bins.empty()) return nullptr;
  if (table == "ranks") return PartsOfRanks(overview);
  if (table == "collectives") return PartsOfCollectives(overview);
  return nullptr;
}

}  // namespace batchlight
