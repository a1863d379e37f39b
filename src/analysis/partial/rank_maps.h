// The ranks of a job as maps: what each takes longer than the rank in the middle, as part of a
// step.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "analysis/partial/job_result.h"

namespace batchlight {

// A share: the rank has no step there.
inline constexpr double kNoSteps = -std::numeric_limits<double>::infinity();

struct RankMap {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> share;  // by rank as in JobResult::ranks, and column
};

// By phase: those that differ most between ranks, `most_phases` at most, in their order. Without a
// column for jobs of one rank or without steps.
RankMap RanksByPhase(const JobResult& job, size_t most_phases);
// By step, without what was lost waiting; columns are named by their first step.
RankMap RanksByStep(const JobResult& job);

// Ranks that share a line where there are more than lines: whole lines of the fastest axes of the
// grid, or an even part of the next.
struct RankLine {
  size_t begin = 0;  // rows of JobResult::ranks
  size_t end = 0;
};

std::vector<RankLine> LinesOf(const JobResult& job, size_t most_lines);

// Of the ranks of a line, by column: the one that takes most.
struct WorstOfLine {
  std::vector<double> share;
  std::vector<size_t> rank;  // row of JobResult::ranks
};

WorstOfLine WorstOf(const RankMap& map, const RankLine& line);

}  // namespace batchlight
