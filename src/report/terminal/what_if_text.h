// What a step would take if no worker were slow: of a trace of a pipeline, and as a section of
// `batchlight ranks`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analysis/partial/job_result.h"
#include "analysis/whatif/what_if.h"
#include "report/terminal/summary_text.h"

namespace batchlight {

// `rows`: of each list.
std::string WhatIfAsText(const WhatIf& found, const TerminalStyle& style, size_t rows);
// Times in s.
std::string WhatIfAsJson(const WhatIf& found);
nlohmann::ordered_json WhatIfJson(const WhatIf& found);

// Where a step is longer by 1 % at least than if no rank were slow.
void WriteWhatIf(SummaryText& out, const JobResult& job, size_t rows);

}  // namespace batchlight
