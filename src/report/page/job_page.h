// The ranks of a job on one page: who is waited for, heat maps of all ranks by phase and by step, a
// line for each rank. A thousand ranks are some hundred kilobytes.
#pragma once

#include <string>
#include <string_view>

#include "analysis/partial/job_result.h"

namespace batchlight {

// `text`: what the terminal shows, without colours. `version`: of the program.
std::string MakeJobPage(const JobResult& job, std::string_view text, std::string_view version);

}  // namespace batchlight
