// What `batchlight ranks` shows: who is waited for, the ranks beside each other, the collectives;
// and of a trace of a pipeline what a step would take if no worker were slow.
#pragma once

#include <string>

#include "analysis/partial/job_result.h"
#include "analysis/whatif/what_if.h"
#include "report/terminal/summary_text.h"

namespace batchlight {

// `rows`: of each list.
std::string RanksAsText(const JobResult& job, const TerminalStyle& style, size_t rows);
std::string WhatIfAsText(const WhatIf& found, const TerminalStyle& style, size_t rows);

// One object with stable keys; times in ns (of a pipeline in s). Names are cleaned to valid UTF-8.
std::string RanksAsJson(const JobResult& job);
std::string WhatIfAsJson(const WhatIf& found);

}  // namespace batchlight
