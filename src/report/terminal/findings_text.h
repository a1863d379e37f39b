// All that is known of each finding, as paragraphs for people.
#pragma once

#include <string>
#include <vector>

#include "analysis/advice/finding.h"
#include "report/terminal/summary_text.h"
#include "store/store.h"

namespace batchlight {

// Paragraphs are as wide as the terminal; without one (terminal_width 0) each is one line. With
// what was read, and the words of the command line that it was read for, each that has events there
// says how to see them in the timeline.
std::string FindingsText(const std::vector<Finding>& findings, TerminalStyle style,
                         const Store* store = nullptr, const std::vector<std::string>& runs = {});

}  // namespace batchlight
