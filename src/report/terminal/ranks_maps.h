// Heat maps of the ranks of a job: what each took longer than the rank in the middle, by phase and
// by step, in the order of the grid. Many ranks share a line, the worst of them tells.
#pragma once

#include "analysis/partial/job_result.h"
#include "report/terminal/summary_text.h"

namespace batchlight {

// Nothing where there are fewer than two ranks.
void WriteRankMaps(SummaryText& out, const JobResult& job);

}  // namespace batchlight
