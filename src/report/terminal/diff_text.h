// Two runs compared, for people and for files.
#pragma once

#include <string>
#include <vector>

#include "analysis/diff/gate.h"
#include "analysis/diff/run_diff.h"
#include "report/terminal/summary_text.h"

namespace batchlight {

std::string DiffAsText(const RunDiff& diff, const std::vector<GateResult>& gates,
                       const TerminalStyle& style, size_t rows);

// For a comment on a pull request: a headline and folded tables.
std::string DiffAsMarkdown(const RunDiff& diff, const std::vector<GateResult>& gates, size_t rows);

// One row per change: list, name, change, times in ns and calls of both runs.
std::string DiffAsCsv(const RunDiff& diff);

// One object with stable keys; times in ns.
std::string DiffAsJson(const RunDiff& diff, const std::vector<GateResult>& gates);

// The same as a page of its own, with the program's `version` at its foot.
std::string DiffAsHtml(const RunDiff& diff, const std::vector<GateResult>& gates,
                       const std::string& version);

// "slower by 2.08 ms (+10.4 %), 95 % interval +1.90 to +2.31 ms", or that there is no difference.
std::string DiffVerdict(const RunDiff& diff);

}  // namespace batchlight
