// Who of a job's ranks is waited for, in words: the same in all views.
#pragma once

#include <string>
#include <vector>

#include "analysis/partial/job_result.h"

namespace batchlight {

// "Rank 5 (node1)"; of one without a number its process.
std::string RankName(const RankTimes& rank);
// "Rank 5 (node1) makes the others wait 4.5 ms of a step (3.0 %), ..."; "" without a straggler.
std::string StragglerSentence(const JobResult& job);
// That, or why none is named, and what is not known.
std::string WaitedForSentence(const JobResult& job);
// What differs on that rank, a sentence each.
std::vector<std::string> CauseSentences(const JobStraggler& straggler);

}  // namespace batchlight
