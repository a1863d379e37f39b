// The ranks of a job as maps: what each takes longer than the rank in the middle, as part of a
// step.
#pragma once

#include <string>
#include <vector>

#include "analysis/partial/job_result.h"

namespace batchlight {

struct RankMap {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> share;  // by rank as in JobResult::ranks, and column
};

// By phase: those that differ most between ranks, `most_phases` at most, in their order. Without a
// column for jobs of one rank or without steps.
RankMap RanksByPhase(const JobResult& job, size_t most_phases);
// By step, without what was lost waiting; columns are named by their first step.
RankMap RanksByStep(const JobResult& job);

}  // namespace batchlight
