// The ranks of a job among the inputs of one call: one input per rank, several ranks in one input,
// or both. Reports that compare ranks run once for each part.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/result/row_source.h"
#include "store/store.h"

namespace batchlight::stats {

// What a part says of its rank.
struct RankClaim {
  int64_t rank = -1;     // -1: a process beside ranks that is none itself, or not known
  bool unknown = false;  // to be numbered
  std::string whose;     // "a.sqlite", for notes, and where it does not say its rank which process
};

struct RankPart {
  size_t input = 0;  // place among the inputs
  int64_t rank = -1;
  std::vector<bool> processes = {};  // by row: those of this part; empty: all of the input
  RankClaim claim = {};
};

struct RankParts {
  std::vector<RankPart> parts;     // in the order of the inputs, then of the ranks
  std::vector<std::string> notes;  // where ranks are not known, what they are taken as
};

// Ranks that the inputs know (analysis/ranks/job_places.h) are kept, others get the lowest numbers
// left, in order of the inputs; processes of one input in order of their GPU. Where two inputs say
// that they are the same rank, all are numbered by their place.
RankParts FindRankParts(std::span<const Store* const> stores);

// The parts of one input, with what each says of its rank; for NumberRanks.
std::vector<RankPart> RankPartsOf(const std::string& label, const Store& store);
// Gives the claims their ranks, as above, and says what was taken.
std::vector<std::string> NumberRanks(std::vector<RankClaim>& claims);

// The tables of the parts, one after the other, with their ranks in front, in a column with the key
// "rank". `sources` and `ranks` are of the same, at least 1.
RowSource JoinRanks(std::vector<RowSource> sources, std::vector<int64_t> ranks);

}  // namespace batchlight::stats
