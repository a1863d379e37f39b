// What ranks of a job are called.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/partial/job_result.h"
#include "analysis/partial/rank_maps.h"

namespace batchlight {

// "3 (dp 0, tp 3)" of a row of the ranks; of one without a number its process.
std::string RankName(const JobResult& job, size_t row);
// "32-63"; of a line of one rank its name.
std::string RankLineName(const JobResult& job, const RankLine& line);

}  // namespace batchlight
