// What is kept of the ranks of a job as tables, for SQL over thousands of them: every step, phase,
// kernel and collective of every rank. docs/sql.md has questions.
#pragma once

#include <vector>

#include "analysis/partial/job_result.h"
#include "analysis/result/row_source.h"

namespace batchlight {

// ranks, steps, phases, kernels, collectives. `job` outlives them.
std::vector<RowSource> JobTables(const JobResult& job);

}  // namespace batchlight
