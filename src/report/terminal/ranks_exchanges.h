// Exchanges of all ranks with all whose parts differ: how evenly experts are loaded.
#pragma once

#include "analysis/partial/job_result.h"
#include "report/terminal/summary_text.h"

namespace batchlight {

// Nothing where there are none.
void WriteExchanges(SummaryText& out, const JobResult& job);

}  // namespace batchlight
