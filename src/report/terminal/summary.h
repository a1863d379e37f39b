// The summary in the terminal: what ran, how long a step takes, what it is made of, which modules
// and operators the time goes to, what is missing, and what to type next.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "analysis/overview/run_overview.h"
#include "report/terminal/summary_text.h"

namespace batchlight {

struct SummaryOptions {
  TerminalStyle style;
  size_t rows = 8;  // of each top list
  // Paths and what each is, shown at the end. The first is the recording, which the suggested
  // commands name. If empty, the store's own source is used.
  std::vector<std::pair<std::string, std::string>> files;
};

std::string SummaryAsText(const RunOverview& overview, const SummaryOptions& options);

// One object with stable keys; times in ns. Names are cleaned to valid UTF-8.
std::string SummaryAsJson(const RunOverview& overview);

// Writes it in the style that `out` can show. Whether it could be written.
bool PrintSummary(const RunOverview& overview, FILE* out,
                  std::vector<std::pair<std::string, std::string>> files = {});

}  // namespace batchlight
