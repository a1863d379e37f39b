// What `batchlight ranks` shows: who is waited for, the ranks beside each other, the collectives.
#pragma once

#include <string>

#include "analysis/partial/job_result.h"
#include "report/terminal/summary_text.h"

namespace batchlight {

// `rows`: of each list.
std::string RanksAsText(const JobResult& job, const TerminalStyle& style, size_t rows);

// One object with stable keys; times in ns (`what_if` in s). Names are cleaned to valid UTF-8.
std::string RanksAsJson(const JobResult& job);

}  // namespace batchlight
