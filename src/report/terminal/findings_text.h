// All that is known of each finding, as paragraphs for people.
#pragma once

#include <string>
#include <vector>

#include "analysis/advice/finding.h"
#include "report/terminal/summary_text.h"

namespace batchlight {

// Paragraphs are as wide as the terminal; without one (terminal_width 0) each is one line.
std::string FindingsText(const std::vector<Finding>& findings, TerminalStyle style);

}  // namespace batchlight
