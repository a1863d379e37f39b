// The section of `batchlight ranks` on groups that move data slower than their like.
#pragma once

#include <cstddef>

#include "analysis/partial/job_result.h"
#include "report/terminal/summary_text.h"

namespace batchlight {

void WriteSlowLinks(SummaryText& out, const JobResult& job, size_t rows);

}  // namespace batchlight
