#include "analysis/stats/rank_parts.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/ranks/job_places.h"
#include "analysis/stats/duration_summary.h"

namespace batchlight::stats {
namespace {

// Processes that did something a report could be about, with the first GPU that each used.
std::map<uint32_t, uint32_t> ActiveProcesses(const Store& store) {
  std::map<uint32_t, uint32_t> active;
  for (size_t row = 0; row < store.kernels.size(); ++row) {
    const ProcessId process = store.kernels.process[row];
    if (!process.IsNone()) active.try_emplace(process.value, store.kernels.device[row]);
  }
  // Without a GPU and NVTX a rank has its operators alone.
  std::set<ThreadId> threads(store.nvtx_ranges.thread.begin(), store.nvtx_ranges.thread.end());
  threads.insert(store.operator_calls.thread.begin(), store.operator_calls.thread.end());
  for (const ThreadId thread : threads) {
    const ProcessId process = store.ProcessOf(thread);
    if (!process.IsNone()) active.try_emplace(process.value, UINT32_MAX);
  }
  return active;
}

RankPart PartOf(size_t input, int64_t rank, const std::vector<uint32_t>& processes, size_t all) {
  RankPart part{.input = input, .rank = rank, .processes = std::vector<bool>(all)};
  for (const uint32_t process : processes) part.processes[process] = true;
  return part;
}

// Several processes with GPU work and no rank: each is a part, in order of their GPUs.
void AddUnranked(size_t input, const Store& store, const std::map<uint32_t, uint32_t>& active,
                 std::vector<RankPart>& parts) {
  std::vector<std::pair<uint32_t, uint32_t>> order;  // GPU, process
  for (const auto& [process, device] : active) {
    if (device != UINT32_MAX) order.emplace_back(device, process);
  }
  if (order.size() < 2) {
    parts.push_back({.input = input, .rank = -1});
    return;
  }
  std::sort(order.begin(), order.end());
  for (const auto& [device, process] : order) {
    parts.push_back(PartOf(input, -1, {process}, store.processes.size()));
  }
}

// Parts of one input; those whose rank is unknown have -1 and are marked in `unknown`.
void AddParts(size_t input, const Store& store, std::vector<RankPart>& parts,
              std::vector<bool>& unknown) {
  const std::map<uint32_t, uint32_t> active = ActiveProcesses(store);
  const std::vector<JobPlace> places = FindJobPlaces(store, FindNcclCalls(store));
  std::map<int32_t, std::vector<uint32_t>> by_rank;
  for (const auto& [process, device] : active) by_rank[places[process].rank].push_back(process);
  const bool beside = by_rank.contains(-1);  // processes without a rank
  const size_t known = by_rank.size() - (beside ? 1 : 0);
  if (known == 0) {
    AddUnranked(input, store, active, parts);
    unknown.resize(parts.size(), true);
    return;
  }
  if (known == 1) {
    parts.push_back({.input = input, .rank = by_rank.rbegin()->first});
  } else {
    for (const auto& [rank, processes] : by_rank) {
      if (rank >= 0) parts.push_back(PartOf(input, rank, processes, store.processes.size()));
    }
    if (beside) parts.push_back(PartOf(input, -1, by_rank[-1], store.processes.size()));
  }
  unknown.resize(parts.size(), false);
}

std::string PidsOf(const RankPart& part, const Store& store) {
  std::string text;
  for (size_t row = 0; row < part.processes.size(); ++row) {
    if (part.processes[row]) text += " of process " + std::to_string(store.processes.pid[row]);
  }
  return text;
}

}  // namespace

std::vector<RankPart> RankPartsOf(const std::string& label, const Store& store) {
  std::vector<RankPart> parts;
  std::vector<bool> unknown;
  AddParts(0, store, parts, unknown);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string does_not_say =
        unknown[i] ? " does not say the rank" + PidsOf(parts[i], store) : "";
    parts[i].claim = {.rank = parts[i].rank, .unknown = unknown[i], .whose = label + does_not_say};
  }
  return parts;
}

std::vector<std::string> NumberRanks(std::vector<RankClaim>& claims) {
  std::vector<std::string> notes;
  if (claims.size() < 2) return notes;
  std::set<int64_t> taken;
  for (const RankClaim& claim : claims) {
    if (claim.rank < 0 || taken.insert(claim.rank).second) continue;
    notes.push_back("rank " + std::to_string(claim.rank) +
                    " is in more than one input: ranks are numbered by place");
    for (size_t i = 0; i < claims.size(); ++i) claims[i].rank = static_cast<int64_t>(i);
    return notes;
  }
  int64_t next = 0;
  for (RankClaim& claim : claims) {
    if (!claim.unknown) continue;
    while (taken.contains(next)) ++next;
    taken.insert(next);
    claim.rank = next;
    notes.push_back(claim.whose + ": taken as rank " + std::to_string(next));
  }
  return notes;
}

RankParts FindRankParts(std::span<const Store* const> stores) {
  RankParts found;
  std::vector<RankClaim> claims;
  for (size_t input = 0; input < stores.size(); ++input) {
    for (RankPart& part : RankPartsOf(stores[input]->source, *stores[input])) {
      part.input = input;
      claims.push_back(part.claim);
      found.parts.push_back(std::move(part));
    }
  }
  found.notes = NumberRanks(claims);
  for (size_t i = 0; i < claims.size(); ++i) found.parts[i].rank = claims[i].rank;
  return found;
}

RowSource JoinRanks(std::vector<RowSource> sources, std::vector<int64_t> ranks) {
  RowSource joined;
  joined.name = sources[0].name;
  joined.title = sources[0].title;
  joined.columns = sources[0].columns;
  joined.columns.insert(joined.columns.begin(), Keyed("rank", IntegerColumn("Rank")));
  for (const RowSource& source : sources) joined.row_count += source.row_count;
  joined.fill = [sources = std::move(sources), ranks = std::move(ranks)](size_t row,
                                                                         std::vector<Cell>& cells) {
    size_t part = 0;
    while (row >= sources[part].row_count) row -= sources[part++].row_count;
    std::vector<Cell> rest(cells.size() - 1);
    sources[part].fill(row, rest);
    cells[0] = ranks[part] < 0 ? Cell{} : Cell{ranks[part]};
    std::move(rest.begin(), rest.end(), cells.begin() + 1);
  };
  return joined;
}

}  // namespace batchlight::stats
